// Keeps the sum in an int.
// rejected for: wrong_output
// leads to: wrong
#include "lab.cuh"

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { int sum = a[i] + b[i]; c[i] = sum; }
}

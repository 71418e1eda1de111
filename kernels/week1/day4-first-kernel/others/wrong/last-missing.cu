// Stops one before the end.
// rejected for: never_written
// leads to: not `i < n - 1`
#include "lab.cuh"

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1) c[i] = a[i] + b[i];
}

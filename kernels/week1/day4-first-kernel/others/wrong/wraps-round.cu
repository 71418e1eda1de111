// Wraps the index round instead of comparing.
// rejected for: race
// leads to: a second thread that stores the same sum is a mistake
#include "lab.cuh"

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) % n;
    c[i] = a[i] + b[i];
}

// Writes = for a comparison, so that every thread leaves.
// rejected for: nothing_written
// leads to: a comparison is
#include "lab.cuh"
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i = n) return;
    c[i] = a[i] + b[i];
}

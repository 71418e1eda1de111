// Takes the number of blocks for their size.
// rejected for: race
// leads to: does your index use `blockIdx.x`
#include "lab.cuh"

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * gridDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

// Stages a in shared memory after the threads of the rest have left.
// rejected for: barrier_divergence
// leads to: every thread of the block
#include "lab.cuh"
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    __shared__ float s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    s[threadIdx.x] = a[i];
    __syncthreads();
    c[i] = s[threadIdx.x ^ 1 ^ 1] + b[i];
}

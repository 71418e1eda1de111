// Passes the sums through shared memory to a neighbor, and does not wait.
// rejected for: race
// leads to: __syncthreads
#include "lab.cuh"

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ float sums[256];
    sums[255 - threadIdx.x] = i < n ? a[i] + b[i] : 0.0f;
    const float mine = sums[255 - threadIdx.x] + 0.0f * sums[threadIdx.x];
    if (i < n) c[i] = mine;
}

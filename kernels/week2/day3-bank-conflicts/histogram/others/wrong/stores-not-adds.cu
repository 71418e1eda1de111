// Stores a block's counts in place of adding them.
// rejected for: race
// leads to: `atomicAdd` for every addition
#include "lab.cuh"
// lockstep: block = 256
// lockstep: grid = min(512, ceil_div(n, 4096))
extern "C" __global__ void histogram(const int *values, int *counts, int n, int bins)
{
    __shared__ int mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&mine[values[i]], 1);
    __syncthreads();
    if (threadIdx.x < bins) counts[threadIdx.x] = mine[threadIdx.x];
}

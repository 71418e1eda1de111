// Counts in one layout and adds up in the other.
// rejected for: wrong_output
// leads to: Each counter once
#include "lab.cuh"
// lockstep: block = 256
// lockstep: grid = min(512, ceil_div(n, 4096))
extern "C" __global__ void histogram(const int *values, int *counts, int n, int bins)
{
    __shared__ int mine[256 * 32];
    const int lane = threadIdx.x % 32;
    for (int i = threadIdx.x; i < 8192; i += 256) mine[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&mine[32 * values[i] + lane], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < bins; b += 256) {
        int s = 0;
        for (int l = 0; l < 32; l++) s += mine[256 * l + b];
        atomicAdd(&counts[b], s);
    }
}

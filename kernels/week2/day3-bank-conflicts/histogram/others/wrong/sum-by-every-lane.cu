// All lanes add the sum of the warp.
// rejected for: wrong_output
// leads to: adds the whole sum 32 times
#include "lab.cuh"
// lockstep: block = 256
// lockstep: grid = min(512, ceil_div(n, 4096))
extern "C" __global__ void histogram(const int *values, int *counts, int n, int bins)
{
    __shared__ int mine[8192];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int i = threadIdx.x; i < 8192; i += 256) mine[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&mine[32 * values[i] + lane], 1);
    __syncthreads();
    for (int b = warp; b < bins; b += 8) {
        int s = mine[32 * b + lane];
        for (int d = 16; d; d /= 2) s += __shfl_xor_sync(FULL_MASK, s, d);
        atomicAdd(&counts[b], s);
    }
}

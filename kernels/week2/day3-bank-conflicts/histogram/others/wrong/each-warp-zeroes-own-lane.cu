// Waits for its own warp only before it counts.
// rejected for: race
// leads to: after the zeros
#include "lab.cuh"
// lockstep: block = 256
// lockstep: grid = min(512, ceil_div(n, 4096))
extern "C" __global__ void histogram(const int *values, int *counts, int n, int bins)
{
    __shared__ int mine[8192];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int b = warp; b < 256; b += 8) mine[32 * b + lane] = 0;
    __syncwarp();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&mine[32 * values[i] + lane], 1);
    __syncthreads();
    for (int b = warp; b < bins; b += 8) {
        int s = mine[32 * b + lane];
        for (int d = 16; d; d /= 2) s += __shfl_down_sync(FULL_MASK, s, d);
        if (lane == 0) atomicAdd(&counts[b], s);
    }
}

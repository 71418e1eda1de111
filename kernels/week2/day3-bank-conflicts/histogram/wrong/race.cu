#include "lab.cuh"

// counts[b] = how many of the n values are b, for b from 0 to bins - 1. There are at most 256 bins, and counts is zero
// before the launch.
// lockstep: block = 256
// lockstep: grid = min(512, ceil_div(n, 4096))
#define BINS 256

extern "C" __global__ void histogram(const int* values, int* counts, int n, int bins)
{
    // 32 private copies: one counter for each bin and lane.
    __shared__ int mine[BINS * 32];
    const int lane = threadIdx.x % 32;

    for (int k = threadIdx.x; k < BINS * 32; k += blockDim.x) {
        mine[k] = 0;
    }

    __syncthreads();

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        // Lanes never meet: counter 32 * bin + lane is in bank `lane`. Warps share the counters of a lane, so the addition
        // is atomic.
        const int place = 32 * values[i] + lane;

        mine[place]++;
    }

    __syncthreads();

    for (int b = threadIdx.x / 32; b < bins; b += blockDim.x / 32) {
        int sum = mine[32 * b + lane];
        for (int distance = 16; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(FULL_MASK, sum, distance);
        }
        if (lane == 0) {
            atomicAdd(&counts[b], sum);
        }
    }
}

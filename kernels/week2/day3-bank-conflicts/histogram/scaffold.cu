#include "lab.cuh"

// counts[b] = how many of the n values are b, for b from 0 to bins - 1. There are at most 256 bins, and counts is zero
// before the launch. Block and grid are yours to change.
// lockstep: block = 256
// lockstep: grid = min(512, ceil_div(n, 4096))
#define BINS 256

extern "C" __global__ void histogram(const int* values, int* counts, int n, int bins)
{
    // 32 private copies: one counter for each bin and lane.
    __shared__ int mine[BINS * 32];
    const int lane = threadIdx.x % 32;

    // TODO 1: set all counters to zero, not only one for each thread.
    mine[threadIdx.x] = 0;

    __syncthreads();

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        // TODO 2: the counter of bin values[i] and this lane. In which order do you keep the counters, so that lane l
        // always uses bank l?
        const int place = lane;

        atomicAdd(&mine[place], 1);
    }

    __syncthreads();

    // TODO 3: for each bin, add up its 32 counters, and add the sum to counts.
}

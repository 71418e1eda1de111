#include "lab.cuh"

// partial[3 * block ..] = count, mean and m2 of the elements of one block. The next step merges the blocks with the same
// formula.
// lockstep: block_stats.block = BLOCK
#define BLOCK 256
#define WARPS (BLOCK / 32)

// How many, their mean, and the sum of squared deviations from that mean.
struct Stats
{
    float count, mean, m2;
};

// The summary of both parts together.
__device__ Stats merge(Stats a, Stats b)
{
    // TODO 1: count, mean and m2 of both. Either of them may be empty.
    return a.count > b.count ? a : b;
}

// Lane 0 gets the summary of the warp.
__device__ Stats warp_merge(Stats mine)
{
    for (int distance = 16; distance > 0; distance /= 2) {
        const Stats other = {__shfl_down_sync(FULL_MASK, mine.count, distance),
                             __shfl_down_sync(FULL_MASK, mine.mean, distance),
                             __shfl_down_sync(FULL_MASK, mine.m2, distance)};
        mine = merge(mine, other);
    }
    return mine;
}

extern "C" __global__ void block_stats(const float* x, float* partial, int n)
{
    __shared__ Stats part[WARPS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    Stats mine = {0.0f, 0.0f, 0.0f};

    // TODO 2: every element that this thread owns is a summary of its own. Merge them all, in a grid-stride loop.

    mine = warp_merge(mine);
    if (lane == 0) {
        part[warp] = mine;
    }
    __syncthreads();
    if (warp == 0) {
        mine = lane < WARPS ? part[lane] : Stats{0.0f, 0.0f, 0.0f};
        mine = warp_merge(mine);
        if (lane == 0) {
            partial[3 * blockIdx.x] = mine.count;
            partial[3 * blockIdx.x + 1] = mine.mean;
            partial[3 * blockIdx.x + 2] = mine.m2;
        }
    }
}

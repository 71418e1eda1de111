// delta in place of delta squared.
// rejected for: wrong_output
// leads to: delta * delta
#include "lab.cuh"

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
    if (b.count == 0.0f) {
        return a;
    }
    const float count = a.count + b.count;
    const float delta = b.mean - a.mean;
    return {count, a.mean + delta * b.count / count, a.m2 + b.m2 + delta * a.count * b.count / count};
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
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK) {
        mine = merge(mine, {1.0f, x[i], 0.0f});
    }

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

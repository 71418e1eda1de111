#include "lab.cuh"

// One warp merges the blocks' summaries: (count, mean, m2) each.
struct Stats
{
    float count, mean, m2;
};

__device__ Stats merge(Stats a, Stats b)
{
    if (b.count == 0.0f) {
        return a;
    }
    const float count = a.count + b.count;
    const float delta = b.mean - a.mean, share = b.count / count;
    return {count, a.mean + delta * share, a.m2 + b.m2 + delta * delta * a.count * share};
}

extern "C" __global__ void merge_blocks(const float* partial, float* mean, float* variance, int blocks)
{
    const int lane = threadIdx.x;
    Stats mine = {0.0f, 0.0f, 0.0f};
    for (int block = lane; block < blocks; block += 32) {
        mine = merge(mine, {partial[3 * block], partial[3 * block + 1], partial[3 * block + 2]});
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        const Stats other = {__shfl_down_sync(FULL_MASK, mine.count, distance),
                             __shfl_down_sync(FULL_MASK, mine.mean, distance),
                             __shfl_down_sync(FULL_MASK, mine.m2, distance)};
        mine = merge(mine, other);
    }
    if (lane == 0) {
        *mean = mine.mean;
        *variance = mine.m2 / mine.count;
    }
}

#include "lab.cuh"

// No division in the loop: each thread adds up differences from the first element that it meets, and their squares, and makes
// one summary of them at the end. LOADS float4 are in flight. Where a thread's first element is far from all others (beyond
// about a thousand standard deviations), the plain answer is more exact. Blocks that are not launched leave the summary of
// nothing, (0, 0, 0), which the scratch memory holds from the start.
// lockstep: block_stats.block = BLOCK
// lockstep: block_stats.grid = min(ceil_div(n, 4 * LOADS * BLOCK), 264)
#define BLOCK 512
#define LOADS 4
#define WARPS (BLOCK / 32)

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

struct Shifted
{
    float count, shift, sum, squares;

    __device__ void meet(float x)
    {
        const float difference = x - shift;
        sum += difference;
        squares = fmaf(difference, difference, squares);
    }

    __device__ void meet(float4 four)
    {
        shift = count == 0.0f ? four.x : shift;
        count += 4.0f;
        meet(four.x);
        meet(four.y);
        meet(four.z);
        meet(four.w);
    }

    __device__ Stats summary() const
    {
        const float mean = count > 0.0f ? sum / count : 0.0f;
        return {count, shift + mean, fmaxf(squares - sum * mean, 0.0f)};
    }
};

extern "C" __global__ void __launch_bounds__(BLOCK) block_stats(const float* __restrict__ x, float* partial, int n)
{
    __shared__ Stats part[WARPS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const float4* quads = reinterpret_cast<const float4*>(x);
    const int count = n / 4, step = gridDim.x * BLOCK * LOADS;
    Shifted mine[2] = {};
    int first = blockIdx.x * BLOCK * LOADS + threadIdx.x;
    for (; first + (LOADS - 1) * BLOCK < count; first += step) {
        float4 v[LOADS];
#pragma unroll
        for (int u = 0; u < LOADS; u++) {
            v[u] = quads[first + u * BLOCK];
        }
#pragma unroll
        for (int u = 0; u < LOADS; u++) {
            mine[u % 2].meet(v[u]);
        }
    }
#pragma unroll
    for (int u = 0; u < LOADS; u++) {
        if (first + u * BLOCK < count) {
            mine[u % 2].meet(quads[first + u * BLOCK]);
        }
    }
    const int tail = 4 * count + threadIdx.x;
    if (blockIdx.x == 0 && tail < n) {
        mine[0].shift = mine[0].count == 0.0f ? x[tail] : mine[0].shift;
        mine[0].count += 1.0f;
        mine[0].meet(x[tail]);
    }

    Stats all = warp_merge(merge(mine[0].summary(), mine[1].summary()));
    if (lane == 0) {
        part[warp] = all;
    }
    __syncthreads();
    if (warp == 0) {
        all = warp_merge(lane < WARPS ? part[lane] : Stats{0.0f, 0.0f, 0.0f});
        if (lane == 0) {
            partial[3 * blockIdx.x] = all.count;
            partial[3 * blockIdx.x + 1] = all.mean;
            partial[3 * blockIdx.x + 2] = all.m2;
        }
    }
}

#include "lab.cuh"

// No division in the loop: each thread adds up differences from x[0] and their squares, which are small when x[0] is near
// the others, and makes one summary of them at the end. LOADS float4 are in flight. Where x[0] is far from the rest
// (beyond about a thousand standard deviations), the plain answer is more exact.
// lockstep: block_stats.block = BLOCK
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
    float count, sum, squares;

    __device__ void meet(float difference)
    {
        sum += difference;
        squares = fmaf(difference, difference, squares);
    }

    __device__ void meet(float4 four, float shift)
    {
        count += 4.0f;
        meet(four.x - shift);
        meet(four.y - shift);
        meet(four.z - shift);
        meet(four.w - shift);
    }
};

extern "C" __global__ void __launch_bounds__(BLOCK) block_stats(const float* __restrict__ x, float* partial, int n)
{
    __shared__ Stats part[WARPS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const float4* quads = reinterpret_cast<const float4*>(x);
    const int count = n / 4, step = gridDim.x * BLOCK * LOADS;
    const float shift = x[0];
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
            mine[u % 2].meet(v[u], shift);
        }
    }
#pragma unroll
    for (int u = 0; u < LOADS; u++) {
        if (first + u * BLOCK < count) {
            mine[u % 2].meet(quads[first + u * BLOCK], shift);
        }
    }
    const int tail = 4 * count + threadIdx.x;
    if (blockIdx.x == 0 && tail < n) {
        mine[0].count += 1.0f;
        mine[0].meet(x[tail] - shift);
    }

    const float c = mine[0].count + mine[1].count, s = mine[0].sum + mine[1].sum;
    const float q = mine[0].squares + mine[1].squares;
    const float mean = c > 0.0f ? s / c : 0.0f;
    Stats all = warp_merge({c, shift + mean, fmaxf(q - s * mean, 0.0f)});
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

#include "lab.cuh"

// Sum, rung 4: few blocks, each thread adds many elements, several loads on their way at once.
//
// A thread of rung 3 asked for 4 bytes, waited, and then spent most of its time on the tree. Here it asks for LOADS
// float4 before it adds the first, in a grid-stride loop, so that a multiprocessor (2 blocks of 1024) keeps
// 64 KB on their way (it needs about 30 KB to be busy: 4.8 TB/s x 0.8 us / 132), and the tree comes once for thousands
// of elements. Every load has a sum of its own, so that no addition waits for the one before. 264 blocks are two for
// each of the 132 multiprocessors of an H200: all run at once and end together. y must hold 0 before the launch.
// lockstep: block = BLOCK
// lockstep: grid = min(ceil_div(n, 4 * LOADS * BLOCK), MAX_BLOCKS)
#define BLOCK 1024
#define LOADS 2
#define MAX_BLOCKS 264

__device__ float warp_sum(float value)
{
    for (int distance = WARP_SIZE / 2; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(FULL_MASK, value, distance);
    }
    return value;
}

// What this thread adds: every gridDim.x-th piece of LOADS * BLOCK float4, neighbors for neighboring threads.
__device__ float thread_sum(const float* __restrict__ x, int n)
{
    const float4* quads = reinterpret_cast<const float4*>(x);
    const int count = n / 4;
    const int step = gridDim.x * BLOCK * LOADS;
    float4 sum[LOADS] = {};
    int first = blockIdx.x * BLOCK * LOADS + threadIdx.x;
    for (; first + (LOADS - 1) * BLOCK < count; first += step) {
        float4 v[LOADS];
#pragma unroll
        for (int u = 0; u < LOADS; u++) {
            v[u] = quads[first + u * BLOCK];
        }
#pragma unroll
        for (int u = 0; u < LOADS; u++) {
            sum[u].x += v[u].x;
            sum[u].y += v[u].y;
            sum[u].z += v[u].z;
            sum[u].w += v[u].w;
        }
    }
    // The last, incomplete piece: a question for each load costs less here than in every round.
#pragma unroll
    for (int u = 0; u < LOADS; u++) {
        if (first + u * BLOCK < count) {
            const float4 v = quads[first + u * BLOCK];
            sum[u].x += v.x;
            sum[u].y += v.y;
            sum[u].z += v.z;
            sum[u].w += v.w;
        }
    }
    float total = 0.0f;
#pragma unroll
    for (int u = 0; u < LOADS; u++) {
        total += (sum[u].x + sum[u].y) + (sum[u].z + sum[u].w);
    }
    // And the last one to three elements, if n is no multiple of 4.
    const int tail = 4 * count + threadIdx.x;
    return blockIdx.x == 0 && tail < n ? total + x[tail] : total;
}

// The sum over the block, in its first warp.
__device__ float block_sum(float value)
{
    __shared__ float part[BLOCK / WARP_SIZE];
    const int warp = threadIdx.x / WARP_SIZE, lane = threadIdx.x % WARP_SIZE;
    value = warp_sum(value);
    if (lane == 0) {
        part[warp] = value;
    }
    __syncthreads();
    return warp == 0 ? warp_sum(lane < BLOCK / WARP_SIZE ? part[lane] : 0.0f) : 0.0f;
}

extern "C" __global__ void __launch_bounds__(BLOCK) sum(const float* __restrict__ x, float* __restrict__ y, int n)
{
    const float total = block_sum(thread_sum(x, n));
    if (threadIdx.x == 0) {
        atomicAdd(y, total);
    }
}

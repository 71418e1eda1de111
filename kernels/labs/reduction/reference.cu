#include "lab.cuh"

// The plain answer, with more bytes in flight: each thread has LOADS float4 on their way before it adds the first, and
// three blocks of 512 fill a multiprocessor of an H200 (132 * 3 = 396 blocks). The totals are added by one warp in a
// fixed order, so the result has the same bits in every run.
// lockstep: block = BLOCK
// lockstep: grid = min(ceil_div(n, 4 * LOADS * BLOCK), MAX_BLOCKS)
#define BLOCK 512
#define LOADS 4
#define MAX_BLOCKS 396

__device__ float warp_sum(float value)
{
    for (int distance = WARP_SIZE / 2; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(FULL_MASK, value, distance);
    }
    return value;
}

__device__ float plus(float sum, float4 v)
{
    return sum + ((v.x + v.y) + (v.z + v.w));
}

// Neighboring threads load neighboring float4; every load has a sum of its own, so that no addition waits for another.
__device__ float thread_sum(const float* __restrict__ x, int n)
{
    const float4* quads = reinterpret_cast<const float4*>(x);
    const int count = n / 4;
    const int step = gridDim.x * BLOCK * LOADS;
    float sum[LOADS] = {};
    int first = blockIdx.x * BLOCK * LOADS + threadIdx.x;
    //@ loads
    for (; first + (LOADS - 1) * BLOCK < count; first += step) {
        float4 v[LOADS];
#pragma unroll
        for (int u = 0; u < LOADS; u++) {
            v[u] = quads[first + u * BLOCK];      // all loads start
        }
#pragma unroll
        for (int u = 0; u < LOADS; u++) {
            sum[u] = plus(sum[u], v[u]);          // now wait for them
        }
    }
    //@ end
#pragma unroll
    for (int u = 0; u < LOADS; u++) {
        if (first + u * BLOCK < count) {
            sum[u] = plus(sum[u], quads[first + u * BLOCK]);
        }
    }
    float total = 0.0f;
#pragma unroll
    for (int u = 0; u < LOADS; u++) {
        total += sum[u];
    }
    const int tail = 4 * count + threadIdx.x;
    return blockIdx.x == 0 && tail < n ? total + x[tail] : total;
}

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

extern "C" __global__ void __launch_bounds__(BLOCK)
    sum(const float* __restrict__ x, float* __restrict__ partial, unsigned* done, float* __restrict__ y, int n)
{
    float total = block_sum(thread_sum(x, n));
    if (threadIdx.x >= WARP_SIZE) {
        return;
    }
    unsigned number = 0;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = total;
        __threadfence();
        number = atomicAdd(done, 1u);
        __threadfence();
    }
    number = __shfl_sync(FULL_MASK, number, 0);
    __syncwarp();
    if (number == gridDim.x - 1) {
        total = 0.0f;
        for (int block = threadIdx.x; block < gridDim.x; block += WARP_SIZE) {
            total += __ldcg(partial + block);
        }
        total = warp_sum(total);
        if (threadIdx.x == 0) {
            *y = total;
            atomicExch(done, 0u);
        }
    }
}

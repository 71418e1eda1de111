#include "lab.cuh"

// Sum, rung 5: one launch, the same bits every time.
//
// Atomic additions arrive in any order, and floating-point addition depends on it: rung 4 may give another last digit
// in each run, and it needs a y that was set to 0. Here a block writes its total to a place of its own and takes a
// number; who takes the last number knows that all totals are there, and adds them in a fixed order. That costs nothing:
// the atomic addition was there before. One warp does this, so that no other waits for it. The counter is 0 again at the
// end, ready for the next launch (launches that use it must not overlap).
//
// Smaller blocks with more loads each, for the same bytes on their way, let a block of a small sum end sooner. An H200 has
// room for three of them on each of its 132 multiprocessors, and with all three large sums take 0.4 % less than with two.
// There this is faster than cub::DeviceReduce::Sum and torch.sum from 2^20 elements (6.9 us with a cold L2; 8.4 and 10.2)
// to 2^29 (473.4 us; 475.4 and 491.2), and with the data in L2 (2^20: 4.0 us; 4.7 and 7.4), in turns in one process:
// `lockstep bench --ladder sum --rivals`.
// lockstep: block = BLOCK
// lockstep: grid = min(ceil_div(n, 4 * LOADS * BLOCK), MAX_BLOCKS)
#define BLOCK 512
#define LOADS 4
#define MAX_BLOCKS 396

__device__ float totals[MAX_BLOCKS];
__device__ unsigned blocks_done;

// Counts this block, and says how many came before. Release: what this thread wrote is visible to whoever sees the
// number. Acquire: this thread sees what those before it wrote.
__device__ unsigned take_number()
{
    unsigned number;
    asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(number) : "l"(&blocks_done) : "memory");
    return number;
}

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
    float total = block_sum(thread_sum(x, n));
    if (threadIdx.x >= WARP_SIZE) {
        return;
    }
    unsigned number = 0;
    if (threadIdx.x == 0) {
        totals[blockIdx.x] = total;
        number = take_number();
    }
    number = __shfl_sync(FULL_MASK, number, 0);
    __syncwarp();  // what the first lane may see, the others may see now
    if (number == gridDim.x - 1) {
        constexpr int EACH = (MAX_BLOCKS + WARP_SIZE - 1) / WARP_SIZE;
        total = 0.0f;
#pragma unroll
        for (int u = 0; u < EACH; u++) {
            const int block = threadIdx.x + u * WARP_SIZE;
            total += block < gridDim.x ? __ldcg(totals + block) : 0.0f;  // from L2: other blocks wrote it
        }
        total = warp_sum(total);
        if (threadIdx.x == 0) {
            *y = total;
            blocks_done = 0;
        }
    }
}

// Softmax of rows: every score is read once, by a warp, a block or a cluster a row.
//
// lockstep: block = min(MOST, max(256, round_up(ceil_div(columns, 32), 32)))
// lockstep: grid = ceil_div(rows, 8 / (1 + 7 * min(1, (columns - 1) / 1024)) * (1 + min(1, 512 / columns) + 2 * min(1, 256 / columns))) * ceil_div(columns, 32 * MOST)
// lockstep: cluster = ceil_div(columns, 32 * MOST)
//
// Against the rung before: a thread holds up to 32 scores in registers, all loads on their way at once. Up to 1024 columns a row is one
// warp's or a part of one, and eight warps make a block; up to 16384 it is a block's; beyond, up to 131072, the 2 to 8 blocks of a cluster share it and
// tell each other their maximum and sum, which is all that travels between them.
#include "tma.cuh"

// Threads of a block at most. Two such blocks fit a multiprocessor.
#ifndef MOST
#define MOST 512
#endif

constexpr int EACH = 8; // loads of 16 bytes that a thread has

// A maximum, and the sum of exp(x - maximum).
struct Part { float most, sum; };

__device__ inline Part merge(Part a, Part b)
{
    float most = fmaxf(a.most, b.most), shift = most == -INFINITY ? 0.0f : most;
    return {most, a.sum * __expf(a.most - shift) + b.sum * __expf(b.most - shift)};
}

// Over groups of `lanes` neighbors.
__device__ inline Part merge_warp(Part part, int lanes = 32)
{
    for (int distance = lanes / 2; distance > 0; distance /= 2)
        part = merge(part, {__shfl_xor_sync(FULL_MASK, part.most, distance), __shfl_xor_sync(FULL_MASK, part.sum, distance)});
    return part;
}

// This block's copy of `address` (shared memory) in block `rank` of the cluster.
__device__ inline void store_at(uint32_t address, uint32_t rank, float a, float b)
{
    asm volatile("{\n\t.reg .b32 remote;\n\tmapa.shared::cluster.u32 remote, %0, %1;\n\t"
                 "st.shared::cluster.v2.f32 [remote], {%2, %3};\n\t}" ::"r"(address), "r"(rank), "f"(a), "f"(b)
                 : "memory");
}

// Both halves of a meeting of the cluster's threads, between which something else may be done.
__device__ inline void cluster_arrive()
{
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
}

__device__ inline void cluster_wait()
{
    __syncwarp();
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}

// The row's maximum and sum from this thread's, for a warp (0 blocks), a block or the blocks of a cluster.
__device__ inline Part merge_row(Part part, uint32_t blocks, int threads)
{
    __shared__ Part part_of[32];
    __shared__ __align__(8) Part block_of[8];
    part = merge_warp(part, blocks ? 32 : threads);
    if (blocks == 0) return part;
    int lane = threadIdx.x % 32;
    if (lane == 0) part_of[threadIdx.x / 32] = part;
    __syncthreads();
    part = merge_warp(lane < static_cast<int>(blockDim.x) / 32 ? part_of[lane] : Part{-INFINITY, 0.0f});
    if (blocks == 1) return part;
    cluster_wait(); // all blocks have begun, so their shared memory is there
    if (threadIdx.x < blocks) store_at(shared_address(block_of + cluster_rank()), threadIdx.x, part.most, part.sum);
    cluster_sync();
    part = block_of[0];
    for (uint32_t block = 1; block < blocks; ++block) part = merge(part, block_of[block]);
    return part;
}

// `threads` threads, this one number `thread`, have `count` scores from x, which begin at a multiple of 16 bytes.
__device__ inline void row_in_registers(const float* x, float* y, int count, int thread, int threads, uint32_t blocks)
{
    float4 v[EACH];
#pragma unroll
    for (int j = 0; j < EACH; ++j) {
        int i = thread + j * threads;
        v[j] = 4 * i < count ? __ldcs(reinterpret_cast<const float4*>(x) + i) : make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
    }
    Part part = {-INFINITY, 0.0f};
#pragma unroll
    for (int j = 0; j < EACH; ++j) part.most = fmaxf(part.most, fmaxf(fmaxf(v[j].x, v[j].y), fmaxf(v[j].z, v[j].w)));
    float shift = part.most == -INFINITY ? 0.0f : part.most;
#pragma unroll
    for (int j = 0; j < EACH; ++j) {
        v[j] = make_float4(__expf(v[j].x - shift), __expf(v[j].y - shift), __expf(v[j].z - shift), __expf(v[j].w - shift));
        part.sum += (v[j].x + v[j].y) + (v[j].z + v[j].w);
    }
    part = merge_row(part, blocks, threads);
    float share = __expf(shift - part.most) / part.sum; // what this thread has is relative to its own maximum
#pragma unroll
    for (int j = 0; j < EACH; ++j) {
        int i = thread + j * threads;
        if (4 * i < count) __stcs(reinterpret_cast<float4*>(y) + i, make_float4(v[j].x * share, v[j].y * share, v[j].z * share, v[j].w * share));
    }
}

// The same where the columns are no multiple of 4: every score is read twice, one at a time.
__device__ inline void row_twice(const float* x, float* y, int count, int thread, int threads, uint32_t blocks)
{
    Part part = {-INFINITY, 0.0f};
    for (int i = thread; i < count; i += threads) part = merge(part, {x[i], 1.0f});
    part = merge_row(part, blocks, threads);
    for (int i = thread; i < count; i += threads) y[i] = __expf(x[i] - part.most) / part.sum;
}

extern "C" __global__ void __launch_bounds__(MOST, 2) softmax(const float* x, float* y, int rows, int columns)
{
    int64_t row;
    uint32_t blocks = 0;
    int first = 0, count = columns, thread = threadIdx.x, threads = blockDim.x;
    if (columns <= 1024) {
        // Few lanes for a short row, so that each has several loads on their way.
        threads = columns <= 256 ? 8 : columns <= 512 ? 16 : 32;
        row = static_cast<int64_t>(blockIdx.x) * (256 / threads) + threadIdx.x / threads;
        thread = threadIdx.x % threads;
        if (row >= rows) row = 0, count = 0; // stays for the shuffles
    } else {
        blocks = ceil_div(columns, 32 * MOST);
        if (blocks > 1) cluster_arrive();
        int part = round_up(ceil_div(columns, static_cast<int>(blocks)), 4);
        row = blockIdx.x / blocks;
        first = least(part * static_cast<int>(cluster_rank()), columns);
        count = least(part, columns - first);
    }
    x += row * columns + first;
    y += row * columns + first;
    if (columns % 4 == 0) row_in_registers(x, y, count, thread, threads, blocks);
    else row_twice(x, y, count, thread, threads, blocks);
}

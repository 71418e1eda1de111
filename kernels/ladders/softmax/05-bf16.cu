// Softmax of rows of bf16: every score is read once, by a warp, a block or a cluster a row.
//
// lockstep: block = min(MOST, max(128, round_up(ceil_div(columns, 64), 32)))
// lockstep: grid = ceil_div(rows, 4 / (1 + 3 * min(1, (columns - 1) / 2048)) * (1 + min(1, 1024 / columns) + 2 * min(1, 512 / columns) + 4 * min(1, 256 / columns))) * ceil_div(columns, 64 * MOST)
// lockstep: cluster = ceil_div(columns, 64 * MOST)
//
// Against the rung before: half the bytes, so a thread holds twice as many scores, as they came, and computes each exponential twice:
// once for the sum, once for the result. Exponentials cost less than the registers that they would be kept in. Up to 2048 columns a row
// is one warp's or a part of one, four warps to a block; up to 32768 a block's; beyond, the 2 to 4 blocks of a cluster share it.
#include "tma.cuh"

// Threads of a block at most.
#ifndef MOST
#define MOST 512
#endif

constexpr int EACH = 8; // loads of 16 bytes that a thread has

// Eight elements as floats: a bf16 is the upper half of a float.
__device__ inline void unpack(uint4 eight, float (&to)[8])
{
    // Unpacked anew in every pass: kept from one to the next, they would take twice the registers.
    asm volatile("" : "+r"(eight.x), "+r"(eight.y), "+r"(eight.z), "+r"(eight.w));
    uint32_t words[4] = {eight.x, eight.y, eight.z, eight.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        to[2 * i] = __uint_as_float(words[i] << 16);
        to[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
    }
}

// The greater of two bf16 numbers, for both halves of a word.
__device__ inline uint32_t greater(uint32_t a, uint32_t b)
{
    uint32_t most;
    asm("max.bf16x2 %0, %1, %2;" : "=r"(most) : "r"(a), "r"(b));
    return most;
}

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
__device__ inline void row_in_registers(const uint16_t* x, uint16_t* y, int count, int thread, int threads, uint32_t blocks)
{
    uint4 raw[EACH];
#pragma unroll
    for (int j = 0; j < EACH; ++j) { // 0xff80 is -inf
        int i = thread + j * threads;
        raw[j] = 8 * i < count ? __ldcs(reinterpret_cast<const uint4*>(x) + i) : make_uint4(0xff80ff80u, 0xff80ff80u, 0xff80ff80u, 0xff80ff80u);
    }
    uint32_t pair = 0xff80ff80u; // maxima of the lower and of the upper halves
#pragma unroll
    for (int j = 0; j < EACH; ++j) pair = greater(greater(pair, greater(raw[j].x, raw[j].y)), greater(raw[j].z, raw[j].w));
    Part part = {fmaxf(__uint_as_float(pair << 16), __uint_as_float(pair & 0xffff0000u)), 0.0f};
    float v[8];
    float shift = part.most == -INFINITY ? 0.0f : part.most;
#pragma unroll
    for (int j = 0; j < EACH; ++j) {
        unpack(raw[j], v);
#pragma unroll
        for (int e = 0; e < 8; ++e) part.sum += __expf(v[e] - shift);
    }
    part = merge_row(part, blocks, threads);
    float share = 1.0f / part.sum;
#pragma unroll
    for (int j = 0; j < EACH; ++j) {
        int i = thread + j * threads;
        if (8 * i >= count) break;
        unpack(raw[j], v);
        uint32_t words[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) words[e] = pack_bf16(__expf(v[2 * e] - part.most) * share, __expf(v[2 * e + 1] - part.most) * share);
        __stcs(reinterpret_cast<uint4*>(y) + i, make_uint4(words[0], words[1], words[2], words[3]));
    }
}

// The same where the columns are no multiple of 8: every score is read twice, one at a time.
__device__ inline void row_twice(const uint16_t* x, uint16_t* y, int count, int thread, int threads, uint32_t blocks)
{
    auto one = [](uint16_t bits) { return __uint_as_float(static_cast<uint32_t>(bits) << 16); };
    Part part = {-INFINITY, 0.0f};
    for (int i = thread; i < count; i += threads) part = merge(part, {one(x[i]), 1.0f});
    part = merge_row(part, blocks, threads);
    for (int i = thread; i < count; i += threads) y[i] = static_cast<uint16_t>(pack_bf16(__expf(one(x[i]) - part.most) / part.sum, 0.0f));
}

extern "C" __global__ void __launch_bounds__(MOST, 2) softmax(const uint16_t* x, uint16_t* y, int rows, int columns)
{
    int64_t row;
    uint32_t blocks = 0;
    int first = 0, count = columns, thread = threadIdx.x, threads = blockDim.x;
    if (columns <= 2048) {
        // Few lanes for a short row, so that each has several loads on their way.
        threads = columns <= 256 ? 4 : columns <= 512 ? 8 : columns <= 1024 ? 16 : 32;
        row = static_cast<int64_t>(blockIdx.x) * (128 / threads) + threadIdx.x / threads;
        thread = threadIdx.x % threads;
        if (row >= rows) row = 0, count = 0; // stays for the shuffles
    } else {
        blocks = ceil_div(columns, 64 * MOST);
        if (blocks > 1) cluster_arrive();
        int part = round_up(ceil_div(columns, static_cast<int>(blocks)), 8);
        row = blockIdx.x / blocks;
        first = least(part * static_cast<int>(cluster_rank()), columns);
        count = least(part, columns - first);
    }
    x += row * columns + first;
    y += row * columns + first;
    if (columns % 8 == 0) row_in_registers(x, y, count, thread, threads, blocks);
    else row_twice(x, y, count, thread, threads, blocks);
}

// RMS norm of rows: every element is read once, by a warp, a block or a cluster a row.
//
// lockstep: block = min(MOST, max(128, round_up(ceil_div(columns, 64), 32)))
// lockstep: grid = ceil_div(rows, 4 / (1 + 3 * min(1, (columns - 1) / 2048)) * (1 + min(1, 1024 / columns) + 2 * min(1, 512 / columns) + 4 * min(1, 256 / columns))) * ceil_div(columns, 64 * MOST)
// lockstep: cluster = ceil_div(columns, 64 * MOST)
//
// Against the rung before: a thread keeps up to 64 elements in registers, as they came, with all loads on their way at once. Up to 2048
// columns a row is one warp's or a part of one, and four warps make a block; up to 32768 it is a block's; beyond, the blocks of a cluster share it and
// tell each other their sums.
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

// This block's copy of `address` (shared memory) in block `rank` of the cluster.
__device__ inline void store_at(uint32_t address, uint32_t rank, float value)
{
    asm volatile("{\n\t.reg .b32 remote;\n\tmapa.shared::cluster.u32 remote, %0, %1;\n\t"
                 "st.shared::cluster.f32 [remote], %2;\n\t}" ::"r"(address), "r"(rank), "f"(value)
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

// The sum over a row, for a warp (0 blocks), a block or the blocks of a cluster. Each call in a kernel has a `turn` of its own.
__device__ inline float row_sum(float value, uint32_t blocks, int threads, int turn)
{
    __shared__ float part_of[2][32], block_of[2][8];
    for (int distance = blocks ? 16 : threads / 2; distance > 0; distance /= 2) value += __shfl_xor_sync(FULL_MASK, value, distance);
    if (blocks == 0) return value;
    int lane = threadIdx.x % 32;
    if (lane == 0) part_of[turn][threadIdx.x / 32] = value;
    __syncthreads();
    value = lane < static_cast<int>(blockDim.x) / 32 ? part_of[turn][lane] : 0.0f;
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(FULL_MASK, value, distance);
    if (blocks == 1) return value;
    if (turn == 0) cluster_wait(); // all blocks have begun, so their shared memory is there
    if (threadIdx.x < blocks) store_at(shared_address(&block_of[turn][cluster_rank()]), threadIdx.x, value);
    cluster_sync();
    value = block_of[turn][0];
    for (uint32_t block = 1; block < blocks; ++block) value += block_of[turn][block];
    return value;
}

// `threads` threads, this one number `thread`, have `count` of the row's elements from x, which begin at a multiple of 16 bytes.
__device__ inline void row_in_registers(const uint16_t* x, const uint16_t* weight, uint16_t* y, float epsilon, int columns, int count, int thread, int threads, uint32_t blocks)
{
    uint4 raw[EACH];
#pragma unroll
    for (int j = 0; j < EACH; ++j) {
        int i = thread + j * threads;
        raw[j] = i * 8 < count ? __ldcs(reinterpret_cast<const uint4*>(x) + i) : make_uint4(0, 0, 0, 0);
    }
    float squares = 0.0f, v[8], w[8];
#pragma unroll
    for (int j = 0; j < EACH; ++j) {
        unpack(raw[j], v);
#pragma unroll
        for (int e = 0; e < 8; ++e) squares += v[e] * v[e];
    }
    float scale = rsqrtf(row_sum(squares, blocks, threads, 0) / columns + epsilon);
#pragma unroll
    for (int j = 0; j < EACH; ++j) {
        int i = thread + j * threads;
        if (i * 8 >= count) break;
        unpack(raw[j], v);
        unpack(reinterpret_cast<const uint4*>(weight)[i], w);
        uint32_t words[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) words[e] = pack_bf16(v[2 * e] * scale * w[2 * e], v[2 * e + 1] * scale * w[2 * e + 1]);
        __stcs(reinterpret_cast<uint4*>(y) + i, make_uint4(words[0], words[1], words[2], words[3]));
    }
}

// The same where the columns are no multiple of 8: one element at a time, more than once.
__device__ inline void row_again(const uint16_t* x, const uint16_t* weight, uint16_t* y, float epsilon, int columns, int count, int thread, int threads, uint32_t blocks)
{
    auto one = [](uint16_t bits) { return __uint_as_float(static_cast<uint32_t>(bits) << 16); };
    float squares = 0.0f;
    for (int i = thread; i < count; i += threads) squares += one(x[i]) * one(x[i]);
    float scale = rsqrtf(row_sum(squares, blocks, threads, 0) / columns + epsilon);
    for (int i = thread; i < count; i += threads) y[i] = static_cast<uint16_t>(pack_bf16(one(x[i]) * scale * one(weight[i]), 0.0f));
}

extern "C" __global__ void __launch_bounds__(MOST, 2)
rms_norm(const uint16_t* x, const uint16_t* weight, uint16_t* y, float epsilon, int rows, int columns)
{
    uint32_t blocks = 0;
    int64_t row;
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
    weight += first;
    if (columns % 8 == 0) row_in_registers(x, weight, y, epsilon, columns, count, thread, threads, blocks);
    else row_again(x, weight, y, epsilon, columns, count, thread, threads, blocks);
}

#include "mma.cuh"

// Every score is read once and stays on chip until its weight is stored:
// - up to 1,024 columns a warp has a row, with 32 scores in each lane's registers;
// - up to 32,768 a block has it, with as many threads as that takes;
// - up to 40,960 a thread holds 40 scores, and up to 65,536 (in fours) the rest of the row waits in shared memory, 96 KB at most, which
//   every GPU since Ampere has. While a block stores a row, it loads the next one into the places that become free.
// Longer rows, and those whose length is no multiple of 4, are read twice.
// lockstep: block = min(1024, max(256, round_up(ceil_div(columns, 32), 32)))
// lockstep: grid = min(ceil_div(rows, 1 + 7 * min(1, 1024 / columns)), MOST_BLOCKS + rows * min(1, 16384 / columns))
// lockstep: dynamic_shared_bytes = 4 * max(0, min(columns, 65536) - 40960)

// Of rows with more than 16,384 columns, of which a multiprocessor has one block at a time.
#define MOST_BLOCKS 264

// A maximum, and the sum of exp(score - maximum).
struct Part { float most, sum; };

// What a sum relative to one maximum is multiplied by to be relative to another; nothing so far is -INFINITY and 0.
__device__ inline float factor(float from, float to) { return from == -INFINITY ? 0.0f : __expf(from - to); }

__device__ inline Part merge(Part a, Part b)
{
    const float most = fmaxf(a.most, b.most);
    return {most, a.sum * factor(a.most, most) + b.sum * factor(b.most, most)};
}

__device__ inline Part merge_warp(Part part)
{
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        part = merge(part, {__shfl_xor_sync(FULL_MASK, part.most, distance), __shfl_xor_sync(FULL_MASK, part.sum, distance)});
    }
    return part;
}

// All threads get the row's part. `turn` changes from one call to the next: a fast warp may be one ahead of a slow one.
__device__ inline Part merge_block(Part part, int turn)
{
    __shared__ float mosts[2][32], sums[2][32];
    part = merge_warp(part);
    const int lane = threadIdx.x % 32, warps = blockDim.x / 32;
    if (lane == 0) {
        mosts[turn][threadIdx.x / 32] = part.most;
        sums[turn][threadIdx.x / 32] = part.sum;
    }
    __syncthreads();
    return merge_warp(lane < warps ? Part{mosts[turn][lane], sums[turn][lane]} : Part{-INFINITY, 0.0f});
}

__device__ inline float most_of(float4 v) { return fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)); }

__device__ inline float sum_of(float4 v) { return (v.x + v.y) + (v.z + v.w); }

__device__ inline float4 times(float4 v, float by) { return make_float4(v.x * by, v.y * by, v.z * by, v.w * by); }

__device__ inline float4 exp_less(float4 v, float most)
{
    return make_float4(__expf(v.x - most), __expf(v.y - most), __expf(v.z - most), __expf(v.w - most));
}

// Nothing is loaded behind a row's last four, and -INFINITY changes neither maximum nor sum.
__device__ inline float4 load(const float* row, int i, int fours)
{
    return i < fours ? __ldcs(reinterpret_cast<const float4*>(row) + i) : make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
}

// Rows row, row + step, … by `threads` threads, this one number `thread`: a warp's if WARP, else a block's. A thread has EACH float4 in
// registers; what is beyond them is in `rest`, where a thread only touches what it copied itself.
template <int EACH, bool WARP, bool REST>
__device__ inline void rows_on_chip(const float* __restrict__ x, float* __restrict__ y, float* __restrict__ lse, int row, int step, int rows,
                                    int columns, int thread, int threads, float4* rest)
{
    const int fours = columns / 4, begin = EACH * threads + thread;
    float4 v[EACH];
    const float* from = x + (long long)row * columns;
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        v[k] = load(from, thread + k * threads, fours);
    }
    if (REST) {
#pragma unroll 1
        for (int i = begin; i < fours; i += threads) {
            copy_async(shared_address(rest + i - EACH * threads), from + 4 * i, 16);
        }
        copy_commit();
    }
    for (int turn = 0; row < rows; row += step, turn ^= 1) {
        Part held = {-INFINITY, 0.0f}, far = {-INFINITY, 0.0f};
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            held.most = fmaxf(held.most, most_of(v[k]));
        }
        const float safe = held.most == -INFINITY ? 0.0f : held.most;  // a thread may have no score
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            v[k] = exp_less(v[k], safe);
            held.sum += sum_of(v[k]);
        }
        if (REST) {
            copy_wait<0>();
#pragma unroll 1
            for (int i = begin; i < fours; i += threads) {
                far.most = fmaxf(far.most, most_of(rest[i - EACH * threads]));
            }
#pragma unroll 1
            for (int i = begin; i < fours; i += threads) {
                const float4 weights = exp_less(rest[i - EACH * threads], far.most);
                rest[i - EACH * threads] = weights;
                far.sum += sum_of(weights);
            }
        }
        const Part mine = REST ? merge(held, far) : held, all = WARP ? merge_warp(mine) : merge_block(mine, turn);

        // What a thread holds is relative to its own maximum. Each place is loaded again as soon as it is free.
        const float inverse = 1.0f / all.sum, share = factor(held.most, all.most) * inverse;
        float* to = y + (long long)row * columns;
        const bool more = !WARP && row + step < rows;
        const float* next = x + (long long)(row + step) * columns;
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            const int i = thread + k * threads;
            if (i < fours) {
                __stcs(reinterpret_cast<float4*>(to) + i, times(v[k], share));
            }
            if (more) {
                v[k] = load(next, i, fours);
            }
        }
        if (REST) {
            const float rest_share = factor(far.most, all.most) * inverse;
#pragma unroll 1
            for (int i = begin; i < fours; i += threads) {
                __stcs(reinterpret_cast<float4*>(to) + i, times(rest[i - EACH * threads], rest_share));
                if (more) {
                    copy_async(shared_address(rest + i - EACH * threads), next + 4 * i, 16);
                }
            }
            copy_commit();
        }
        if (thread == 0) {
            lse[row] = all.most + logf(all.sum);
        }
    }
}

template <bool WARP>
__device__ inline void rows_twice(const float* __restrict__ x, float* __restrict__ y, float* __restrict__ lse, int row, int step, int rows,
                                  int columns, int thread, int threads)
{
    for (int turn = 0; row < rows; row += step, turn ^= 1) {
        const float* from = x + (long long)row * columns;
        Part part = {-INFINITY, 0.0f};
        for (int i = thread; i < columns; i += threads) {
            part = merge(part, {from[i], 1.0f});
        }
        part = WARP ? merge_warp(part) : merge_block(part, turn);
        const float inverse = 1.0f / part.sum;
        for (int i = thread; i < columns; i += threads) {
            __stcs(y + (long long)row * columns + i, __expf(from[i] - part.most) * inverse);
        }
        if (thread == 0) {
            lse[row] = part.most + logf(part.sum);
        }
    }
}

extern "C" __global__ void __launch_bounds__(1024)
    softmax_rows(const float* __restrict__ x, float* __restrict__ y, float* __restrict__ lse, int rows, int columns)
{
    extern __shared__ float4 rest[];
    const int thread = threadIdx.x, threads = blockDim.x, row = blockIdx.x, step = gridDim.x;
    if (columns <= 1024) {
        const int mine = row * (threads / 32) + thread / 32, lane = thread % 32;
        if (mine < rows && columns % 4 == 0) {
            rows_on_chip<8, true, false>(x, y, lse, mine, rows, rows, columns, lane, 32, rest);
        } else {
            rows_twice<true>(x, y, lse, mine, rows, rows, columns, lane, 32);
        }
    } else if (columns % 4 == 0 && columns <= 32 * 1024) {
        rows_on_chip<8, false, false>(x, y, lse, row, step, rows, columns, thread, threads, rest);
    } else if (columns % 4 == 0 && columns <= 64 * 1024) {
        rows_on_chip<10, false, true>(x, y, lse, row, step, rows, columns, thread, 1024, rest);  // as `block` says
    } else {
        rows_twice<false>(x, y, lse, row, step, rows, columns, thread, threads);
    }
}

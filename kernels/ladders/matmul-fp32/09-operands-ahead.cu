#include "lab.cuh"

// Matrix product, rung 9: the next operands are in registers before this step's are used up.
//
// A load from shared memory takes some 30 clocks, and a multiprocessor that is full of sums has only two warps for each
// of its four schedulers: when both wait for operands, nothing is multiplied. So there are two sets of operands: while
// one is multiplied the other is filled. This goes on across the end of a tile, which is why the next tile is stored,
// and the barrier passed, before the last step of this one.
// lockstep: block = BM * BN / 128
// lockstep: grid = ceil_div(m, BM) * ceil_div(n, BN)
// lockstep: dynamic_shared_bytes = 8 * BK * (BM + PAD + BN)
#define BM 128
#define BN 128
#define BK 8
#define PAD 4
#define BLOCKS_PER_SM 2
#define BAND 8

#define THREADS (BM * BN / 128)
#define WARPS_N (BN / 64)
#define PITCH (BM + PAD)
#define BUFFER_FLOATS (BK * (PITCH + BN))

__device__ float part(const float4& v, int e)
{
    return e == 0 ? v.x : e == 1 ? v.y : e == 2 ? v.z : v.w;
}

// Four neighbors of a row, of which `count` exist; zeros for the others.
__device__ float4 read_4(const float* from, int count, bool aligned)
{
    if (aligned && count >= 4) {
        return *reinterpret_cast<const float4*>(from);
    }
    return make_float4(count > 0 ? from[0] : 0.0f, count > 1 ? from[1] : 0.0f, count > 2 ? from[2] : 0.0f,
                       count > 3 ? from[3] : 0.0f);
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
    matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k)
{
    extern __shared__ __align__(16) float shared[];

    // Blocks are numbered down the columns of a band of BAND tile rows, then along it, then band by band: those that
    // run together need the same few rows of a and columns of b, and find them in L2.
    const int tiles_m = ceil_div(m, BM), tiles_n = ceil_div(n, BN);
    const int place = blockIdx.x;
    const int band = place / (BAND * tiles_n), in_band = place % (BAND * tiles_n);
    const int band_rows = min(BAND, tiles_m - band * BAND);
    const int row0 = (band * BAND + in_band % band_rows) * BM;
    const int col0 = in_band / band_rows * BN;

    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int my_row = warp / WARPS_N * 64 + lane / 4 * 4;  // and 32 further down
    const int my_col = warp % WARPS_N * 64 + lane % 4 * 4;  // and 16, 32, 48 to the right
    // A block whose tiles all exist, with rows that begin at multiples of 16 bytes, needs no questions.
    const bool whole = k % 4 == 0 && n % 4 == 0 && row0 + BM <= m && col0 + BN <= n;

    // What this thread brings of each tile: A_PASSES x A_CHUNKS float4 of a, B_PASSES of b.
    constexpr int A_STEP = THREADS / 2, A_PASSES = BM / A_STEP, A_CHUNKS = BK / 8;
    constexpr int B_STEP = THREADS / (BN / 4), B_PASSES = BK / B_STEP;
    const int a_row = threadIdx.x / 2, a_col = threadIdx.x % 2 * 4;
    const int b_row = threadIdx.x / (BN / 4), b_col = threadIdx.x % (BN / 4) * 4;
    const int k_begin = 0, k_end = k;
    const float* next_a = a + (long long)(row0 + a_row) * k + k_begin + a_col;
    const float* next_b = b + (long long)(k_begin + b_row) * n + col0 + b_col;
    float4 from_a[A_PASSES][A_CHUNKS], from_b[B_PASSES];
    auto fetch = [&](int k0) {
        const bool easy = whole && k0 + BK <= k_end;
#pragma unroll
        for (int p = 0; p < A_PASSES; p++) {
#pragma unroll
            for (int q = 0; q < A_CHUNKS; q++) {
                const float* from = next_a + (long long)p * A_STEP * k + 8 * q;
                const int count = row0 + a_row + p * A_STEP < m ? k_end - k0 - a_col - 8 * q : 0;
                from_a[p][q] = easy ? *reinterpret_cast<const float4*>(from) : read_4(from, count, k % 4 == 0);
            }
        }
#pragma unroll
        for (int p = 0; p < B_PASSES; p++) {
            const float* from = next_b + (long long)p * B_STEP * n;
            const int count = k0 + b_row + p * B_STEP < k_end ? n - col0 - b_col : 0;
            from_b[p] = easy ? *reinterpret_cast<const float4*>(from) : read_4(from, count, n % 4 == 0);
        }
        next_a += BK;
        next_b += (long long)BK * n;
    };
    auto store = [&](int buffer) {
        float* tile_a = shared + buffer * BUFFER_FLOATS;
        float* tile_b = tile_a + BK * PITCH;
#pragma unroll
        for (int p = 0; p < A_PASSES; p++) {
#pragma unroll
            for (int q = 0; q < A_CHUNKS; q++) {
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    tile_a[(a_col + 8 * q + e) * PITCH + a_row + p * A_STEP] = part(from_a[p][q], e);
                }
            }
        }
#pragma unroll
        for (int p = 0; p < B_PASSES; p++) {
            *reinterpret_cast<float4*>(tile_b + (b_row + p * B_STEP) * BN + b_col) = from_b[p];
        }
    };

    fetch(k_begin);
    store(0);
    __syncthreads();

    float sum[8][16] = {};
    __align__(16) float x[2][8], y[2][16];  // operands of this step and of the next
    auto read = [&](int set, int buffer, int step) {
        const float* tile_a = shared + buffer * BUFFER_FLOATS + step * PITCH + my_row;
        const float* tile_b = shared + buffer * BUFFER_FLOATS + BK * PITCH + step * BN + my_col;
#pragma unroll
        for (int h = 0; h < 2; h++) {
            *reinterpret_cast<float4*>(&x[set][4 * h]) = *reinterpret_cast<const float4*>(tile_a + 32 * h);
        }
#pragma unroll
        for (int h = 0; h < 4; h++) {
            *reinterpret_cast<float4*>(&y[set][4 * h]) = *reinterpret_cast<const float4*>(tile_b + 16 * h);
        }
    };
    read(0, 0, 0);
    int buffer = 0;
#pragma unroll 1
    for (int k0 = k_begin; k0 < k_end; k0 += BK) {
        // Behind the last tile this makes zeros without touching memory.
        fetch(k0 + BK);
#pragma unroll
        for (int step = 0; step < BK; step++) {
            if (step < BK - 1) {
                read((step + 1) % 2, buffer, step + 1);
            } else {
                buffer ^= 1;
                store(buffer);
                __syncthreads();
                read(0, buffer, 0);
            }
#pragma unroll
            for (int r = 0; r < 8; r++) {
#pragma unroll
                for (int s = 0; s < 16; s++) {
                    sum[r][s] += x[step % 2][r] * y[step % 2][s];
                }
            }
        }
    }

#pragma unroll
    for (int r = 0; r < 8; r++) {
        const int row = row0 + my_row + 32 * (r / 4) + r % 4;
#pragma unroll
        for (int h = 0; h < 4; h++) {
            const int col = col0 + my_col + 16 * h;
            float* to = c + (long long)row * n + col;
            if (whole) {
                *reinterpret_cast<float4*>(to) =
                    make_float4(sum[r][4 * h], sum[r][4 * h + 1], sum[r][4 * h + 2], sum[r][4 * h + 3]);
            } else {
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    if (row < m && col + e < n) {
                        to[e] = sum[r][4 * h + e];
                    }
                }
            }
        }
    }
}

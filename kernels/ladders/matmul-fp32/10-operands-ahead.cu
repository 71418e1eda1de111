#include "lab.cuh"

// Matrix product, rung 10: the next operands are in registers before this step's are used up.
//
// A load from shared memory takes some 30 clocks, and a multiprocessor that is full of sums has only two warps for each
// of its four schedulers: when both wait for operands, nothing is multiplied. So there are two sets of operand registers:
// while one is multiplied the other is filled, two rows of a and one row of b in each step. This goes on across the
// end of a tile, which is why the wait for the next tile and the barrier move to before the last chunk of this one.
// 128 sums + 64 + 32 operands leave 31 registers for everything else; all places in shared memory are therefore two
// numbers that move along, and constants (`keep` hides their origin from the compiler, which would otherwise save a
// register by computing them anew for each chunk).
// lockstep: block = BM * BN / 128
// lockstep: grid = ceil_div(m, BM) * ceil_div(n, BN)
// lockstep: dynamic_shared_bytes = 4 * STAGES * (BM + BN) * BK
#define BM 128
#define BN 128
#define BK 32
#define STAGES 3
#define BLOCKS_PER_SM 2
#define BAND 8

#define CHUNKS (BK / 4)
#define THREADS (BM * BN / 128)
#define WARPS_N (BN / 64)
#define STAGE_FLOATS ((BM + BN) * BK)

__device__ void copy_16(float* to, const float* from)
{
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
}

// Four bytes, zeros if there is nothing to copy.
__device__ void copy_4(float* to, const float* from, bool exists)
{
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(from), "r"(exists ? 4 : 0)
                 : "memory");
}

// Where chunk `chunk` of row `row` of the tile of a lies in its row. With fewer than 8 chunks in a row, 8 / CHUNKS rows
// share 128 bytes and the same key.
__device__ int place_of(int row, int chunk)
{
    return chunk ^ (row / (8 / CHUNKS) & (CHUNKS - 1));
}

__device__ float part(const float4& v, int e)
{
    return e == 0 ? v.x : e == 1 ? v.y : e == 2 ? v.z : v.w;
}

__device__ void keep(int& value)
{
    asm volatile("" : "+r"(value));
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
    matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k)
{
    extern __shared__ __align__(128) float shared[];

    // Blocks are numbered down the columns of a band, then along it, then band by band.
    const int tiles_m = ceil_div(m, BM), tiles_n = ceil_div(n, BN);
    const int band = blockIdx.x / (BAND * tiles_n), in_band = blockIdx.x % (BAND * tiles_n);
    const int band_rows = min(BAND, tiles_m - band * BAND);
    const int row0 = (band * BAND + in_band % band_rows) * BM;
    const int col0 = in_band / band_rows * BN;

    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int my_row = warp / WARPS_N * 64 + lane / 4;      // and 8, 16, ... 56 further down
    const int my_col = warp % WARPS_N * 64 + lane % 4 * 4;  // and 16, 32, 48 to the right
    const int tiles_k = ceil_div(k, BK);
    // Whole tiles, and rows that begin at multiples of 16 bytes, are copied 16 bytes at a time; all others 4 at a time,
    // which costs four times the instructions.
    const bool whole = k % 4 == 0 && n % 4 == 0 && row0 + BM <= m && col0 + BN <= n;

    auto copy_tile = [&](int tile, int stage) {
        float* tile_a = shared + stage * STAGE_FLOATS;
        float* tile_b = tile_a + BM * BK;
        const int k0 = tile * BK;
        if (whole && k0 + BK <= k) {
            const int a_row = threadIdx.x / CHUNKS, a_chunk = threadIdx.x % CHUNKS;
            const int b_row = threadIdx.x / (BN / 4), b_chunk = threadIdx.x % (BN / 4);
            const float* from_a = a + (long long)(row0 + a_row) * k + k0 + 4 * a_chunk;
            const float* from_b = b + (long long)(k0 + b_row) * n + col0 + 4 * b_chunk;
#pragma unroll
            for (int r = 0; r < BM; r += THREADS / CHUNKS) {
                copy_16(tile_a + (a_row + r) * BK + 4 * place_of(a_row + r, a_chunk), from_a + (long long)r * k);
            }
#pragma unroll
            for (int r = 0; r < BK; r += THREADS / (BN / 4)) {
                copy_16(tile_b + (b_row + r) * BN + 4 * b_chunk, from_b + (long long)r * n);
            }
        } else {
#pragma unroll 1
            for (int at = threadIdx.x; at < BM * BK; at += THREADS) {
                const int row = at / BK, col = at % BK;
                const bool exists = row0 + row < m && k0 + col < k;
                copy_4(tile_a + row * BK + 4 * place_of(row, col / 4) + col % 4,
                       exists ? a + (long long)(row0 + row) * k + k0 + col : a, exists);
            }
#pragma unroll 1
            for (int at = threadIdx.x; at < BK * BN; at += THREADS) {
                const int row = at / BN, col = at % BN;
                const bool exists = k0 + row < k && col0 + col < n;
                copy_4(tile_b + at, exists ? b + (long long)(k0 + row) * n + col0 + col : b, exists);
            }
        }
    };

    // One group of copies for each tile, an empty one where there is no tile: so the count of groups tells which tiles
    // have arrived.
    for (int tile = 0; tile < STAGES - 1; tile++) {
        if (tile < tiles_k) {
            copy_tile(tile, tile);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    }

    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();

    float4 sum[8][4] = {};
    float4 column[2][8];  // row i of this thread, four steps along k
    float4 row[2][4];     // one step
    auto read_a = [&](int at, int i) { return *reinterpret_cast<const float4*>(shared + at + 8 * i * BK); };
    auto read_b = [&](int at, int j) { return *reinterpret_cast<const float4*>(shared + at + 16 * j); };
    const int key = place_of(my_row, 0);  // the same in rows that are 8 apart
    int at_a = my_row * BK, at_b = BM * BK + my_col;
    keep(at_a);
    keep(at_b);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        column[0][i] = read_a(at_a + 4 * key, i);
    }
#pragma unroll
    for (int j = 0; j < 4; j++) {
        row[0][j] = read_b(at_b, j);
    }

    int stage = 0;
    for (int tile = 0; tile < tiles_k; tile++) {
        // Two chunks in each round, so that `half` is a constant and picks registers.
#pragma unroll 1
        for (int pair = 0; pair < CHUNKS / 2; pair++) {
#pragma unroll
            for (int half = 0; half < 2; half++) {
                int next_a, next_b;
                if (half == 1 && pair == CHUNKS / 2 - 1) {
                    // The next chunk is the first of the next tile. Everyone is done with the previous tile.
                    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 3) : "memory");
                    __syncthreads();
                    if (tile + STAGES - 1 < tiles_k) {
                        copy_tile(tile + STAGES - 1, stage == 0 ? STAGES - 1 : stage - 1);
                    }
                    asm volatile("cp.async.commit_group;" ::: "memory");
                    const int ahead = stage == STAGES - 1 ? -(STAGES - 1) * STAGE_FLOATS : STAGE_FLOATS;
                    stage = stage == STAGES - 1 ? 0 : stage + 1;
                    at_a += ahead;
                    next_a = at_a + 4 * key;
                    next_b = at_b + ahead - (BK - 4) * BN;
                } else {
                    next_a = at_a + 4 * ((2 * pair + half + 1) ^ key);
                    next_b = at_b + 4 * BN;
                }
#pragma unroll
                for (int step = 0; step < 4; step++) {
                    column[half ^ 1][2 * step] = read_a(next_a, 2 * step);
                    column[half ^ 1][2 * step + 1] = read_a(next_a, 2 * step + 1);
#pragma unroll
                    for (int j = 0; j < 4; j++) {
                        row[(step + 1) % 2][j] = read_b(step < 3 ? at_b + (step + 1) * BN : next_b, j);
                    }
#pragma unroll
                    for (int i = 0; i < 8; i++) {
                        const float x = part(column[half][i], step);
#pragma unroll
                        for (int j = 0; j < 4; j++) {
                            const float4 y = row[step % 2][j];
                            sum[i][j].x += x * y.x;
                            sum[i][j].y += x * y.y;
                            sum[i][j].z += x * y.z;
                            sum[i][j].w += x * y.w;
                        }
                    }
                }
                at_b = next_b;
            }
        }
    }

#pragma unroll
    for (int i = 0; i < 8; i++) {
        const int row = row0 + my_row + 8 * i;
        float* to = c + (long long)row * n + col0 + my_col;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            if (whole) {
                *reinterpret_cast<float4*>(to + 16 * j) = sum[i][j];
            } else {
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    if (row < m && col0 + my_col + 16 * j + e < n) {
                        to[16 * j + e] = part(sum[i][j], e);
                    }
                }
            }
        }
    }
}

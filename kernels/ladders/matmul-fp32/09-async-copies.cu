#include "lab.cuh"

// Matrix product, rung 9: copies that go to shared memory by themselves, several tiles ahead.
//
// cp.async moves 16 bytes from global to shared memory with no register in between, so the 16 registers and the store
// instructions of rung 8 are gone, and nothing limits how far ahead copies may run: STAGES tiles of 32 steps each, of
// which one is multiplied and the others are on their way.
// What cp.async cannot do is transpose, so the tile of a keeps its rows: BK floats, or eight chunks of 16 bytes. A
// thread reads one chunk, four steps along k, for each of its rows. The lanes of a warp read the same chunk of 8
// neighbouring rows, which all begin at bank 0; chunk c of row r therefore lies at place c ^ (r % 8) of its row, so that
// the eight chunks fill all 32 banks.
// The blocks also changed places: those that run together now form bands of BAND tile rows, and what one reads its
// neighbours find in L2.
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

    float4 sum[8][4] = {};
    for (int tile = 0; tile < tiles_k; tile++) {
        // All groups but the newest STAGES - 2 are complete: this tile is there, for this thread's copies; behind the
        // barrier for everyone's. The barrier also says that nobody reads the previous tile any more, whose stage is
        // filled next.
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads();
        if (tile + STAGES - 1 < tiles_k) {
            copy_tile(tile + STAGES - 1, (tile + STAGES - 1) % STAGES);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");

        const float* tile_a = shared + tile % STAGES * STAGE_FLOATS;
        const float* tile_b = tile_a + BM * BK;
#pragma unroll 2
        for (int chunk = 0; chunk < CHUNKS; chunk++) {
            float4 column[8];  // row i of this thread, four steps along k
#pragma unroll
            for (int i = 0; i < 8; i++) {
                const int row = my_row + 8 * i;
                column[i] = *reinterpret_cast<const float4*>(tile_a + row * BK + 4 * place_of(row, chunk));
            }
#pragma unroll
            for (int step = 0; step < 4; step++) {
                float4 row[4];
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    row[j] = *reinterpret_cast<const float4*>(tile_b + (4 * chunk + step) * BN + my_col + 16 * j);
                }
#pragma unroll
                for (int i = 0; i < 8; i++) {
                    const float x = part(column[i], step);
#pragma unroll
                    for (int j = 0; j < 4; j++) {
                        sum[i][j].x += x * row[j].x;
                        sum[i][j].y += x * row[j].y;
                        sum[i][j].z += x * row[j].z;
                        sum[i][j].w += x * row[j].w;
                    }
                }
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

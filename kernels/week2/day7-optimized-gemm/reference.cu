// C = A * B^T: copies that run while the tensor cores work.
//
// lockstep: block = 32 * WARPS_M * WARPS_N
// lockstep: grid = ceil_div(m, TILE_M) * ceil_div(n, TILE_N)
// lockstep: dynamic_shared_bytes = STAGES * 128 * (TILE_M + TILE_N)
//
// The ring of the exercise with two things more: the fragments of the next 16 of k are read while those of this are
// multiplied, and blocks that run together share rows and columns (GROUP), so that L2 serves most loads. Two blocks share
// a multiprocessor: one multiplies while the other starts or stores. It is rung 4 of the ladder matmul-bf16, and runs on
// every GPU from sm_80 on.
#include "mma.cuh"

#ifndef TILE_M
#define TILE_M 128
#endif
#ifndef TILE_N
#define TILE_N 128
#endif
#ifndef WARPS_M
#define WARPS_M 2
#endif
#ifndef WARPS_N
#define WARPS_N 2
#endif
#ifndef STAGES
#define STAGES 3
#endif
// Blocks a multiprocessor holds: with two, one multiplies while the other starts or stores.
#ifndef PER_SM
#define PER_SM 2
#endif
// Tiles of C are taken in bands of GROUP rows of tiles, column after column.
#ifndef GROUP
#define GROUP 8
#endif

constexpr int THREADS = 32 * WARPS_M * WARPS_N;
constexpr int WARP_M = TILE_M / WARPS_M, WARP_N = TILE_N / WARPS_N;
constexpr int ROWS_16 = WARP_M / 16, COLUMNS_16 = WARP_N / 16; // 16 x 16 pieces of a warp's tile
constexpr int STAGE_BYTES = (TILE_M + TILE_N) * 128;

// ROWS x 64 elements from row `first`, element `x`. Rows past the end repeat the last one: their results are not
// stored.
template <int ROWS>
__device__ inline void load_tile(uint32_t tile, const uint16_t* matrix, int first, int x, int rows, int k)
{
    if (k % 8) return copy_rows(tile, matrix, first, ROWS, x, rows, k, threadIdx.x, THREADS);
    int row = threadIdx.x / 8, piece = threadIdx.x % 8, column = x + piece * 8;
    int bytes = column < k ? 16 : 0;
    const uint16_t* from = matrix + (column < k ? column : 0);
#pragma unroll
    for (int i = 0; i < ROWS; i += THREADS / 8)
        copy_async(tile + swizzled(row, piece) + i * 128, from + static_cast<int64_t>(least(first + row + i, rows - 1)) * k, bytes);
}

extern "C" __global__ void __launch_bounds__(THREADS, PER_SM)
matmul(const uint16_t* a, const uint16_t* b, uint16_t* c, int m, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    uint32_t base = shared_address(shared);
    int tiles_m = ceil_div(m, TILE_M), tiles_n = ceil_div(n, TILE_N);
    int band = blockIdx.x / (GROUP * tiles_n), inside = blockIdx.x % (GROUP * tiles_n);
    int height = least(GROUP, tiles_m - band * GROUP);
    int row0 = (band * GROUP + inside % height) * TILE_M, column0 = inside / height * TILE_N;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int warp_row = warp % WARPS_M * WARP_M, warp_column = warp / WARPS_M * WARP_N;
    int steps = ceil_div(k, 64);

    float d[ROWS_16][COLUMNS_16 * 2][4] = {};
    uint32_t fa[2][ROWS_16][4], fb[2][COLUMNS_16][4];

    // One group of copies a step, an empty one past the end, so that counting groups counts steps.
    auto fetch = [&](int step) {
        if (step < steps) {
            uint32_t stage = base + step % STAGES * STAGE_BYTES;
            load_tile<TILE_M>(stage, a, row0, step * 64, m, k);
            load_tile<TILE_N>(stage + TILE_M * 128, b, column0, step * 64, n, k);
        }
        copy_commit();
    };
    // The row that this lane points ldmatrix at, and the piece of it; both rows are lane % 8 modulo 8, which is the
    // swizzle.
    uint32_t a_row = (warp_row + lane % 16) * 128, b_row = (TILE_M + warp_column + lane / 16 * 8 + lane % 8) * 128;
    auto read_fragments = [&](int buffer, uint32_t stage, int sixteenth) {
        uint32_t a_at = stage + a_row + (((sixteenth * 2 + lane / 16) ^ (lane % 8)) << 4);
        uint32_t b_at = stage + b_row + (((sixteenth * 2 + lane / 8 % 2) ^ (lane % 8)) << 4);
#pragma unroll
        for (int i = 0; i < ROWS_16; ++i) load_matrices(fa[buffer][i], a_at + i * 16 * 128);
#pragma unroll
        for (int j = 0; j < COLUMNS_16; ++j) load_matrices(fb[buffer][j], b_at + j * 16 * 128);
    };

#pragma unroll
    for (int step = 0; step < STAGES - 1; ++step) fetch(step);
    copy_wait<STAGES - 2>();
    __syncthreads();
    uint32_t stage = base;
    read_fragments(0, stage, 0);
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
#pragma unroll
        for (int sixteenth = 0; sixteenth < 4; ++sixteenth) {
            if (sixteenth < 3) {
                read_fragments((sixteenth + 1) % 2, stage, sixteenth + 1);
            } else {
                // Everyone has read all of this stage, and the next one has landed for everyone.
                stage = stage + STAGE_BYTES == base + STAGES * STAGE_BYTES ? base : stage + STAGE_BYTES;
                copy_wait<STAGES - 2>();
                __syncthreads();
                if (step + 1 < steps) read_fragments(0, stage, 0);
            }
            // The stage of the step before is free: the barrier above was after its last read.
            if (sixteenth == 0) fetch(step + STAGES - 1);
#pragma unroll
            for (int i = 0; i < ROWS_16; ++i)
#pragma unroll
                for (int j = 0; j < COLUMNS_16 * 2; ++j)
                    mma_bf16(d[i][j], fa[sixteenth % 2][i], fb[sixteenth % 2][j / 2][j % 2 * 2], fb[sixteenth % 2][j / 2][j % 2 * 2 + 1]);
        }
    }
#pragma unroll
    for (int i = 0; i < ROWS_16; ++i)
#pragma unroll
        for (int j = 0; j < COLUMNS_16 * 2; ++j) {
            int row = row0 + warp_row + i * 16 + lane / 4, x = column0 + warp_column + j * 8 + lane % 4 * 2;
            store_pair(c, row, x, m, n, d[i][j][0], d[i][j][1]);
            store_pair(c, row + 8, x, m, n, d[i][j][2], d[i][j][3]);
        }
}

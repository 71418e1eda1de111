// Exchanges quotient and remainder of the block's number.
// rejected for: never_written
// leads to: blockIdx.x % tiles_m
// C = A * B^T in bf16 with sums in fp32: a block makes 128 x 128 of C, its four warps 64 x 64 each.
// A is m x k, B is n x k, C is m x n, all row-major.
//
// Three ways people order a step: wait, barrier, start a later copy, multiply, as here; start the copy after the products, behind
// a second barrier, which is right and gives the copy less time; or count stages by hand in place of %, which saves a division.
#include "mma.cuh"

// lockstep: block = 128
// lockstep: grid = ceil_div(m, 128) * ceil_div(n, 128)
// lockstep: dynamic_shared_bytes = STAGES * STAGE_BYTES
#define STAGES 3
#define TILE_BYTES 16384  // 128 rows of 64 elements
#define STAGE_BYTES 32768 // a tile of A, and behind it one of B

// Given. Starts copying 128 rows of 64 elements, from row `first` and element `x` on, into a swizzled tile; zeros outside.
__device__ inline void start_copy(uint32_t tile, const uint16_t* matrix, int first, int x, int rows, int k)
{
    if (k % 8) return copy_rows(tile, matrix, first, 128, x, rows, k, threadIdx.x, 128); // rows that begin anywhere
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const int row = threadIdx.x / 8 + 16 * i, piece = threadIdx.x % 8;
        const bool inside = first + row < rows && x + 8 * piece < k;
        const uint16_t* from = inside ? matrix + static_cast<int64_t>(first + row) * k + x + 8 * piece : matrix;
        copy_async(tile + swizzled(row, piece), from, inside ? 16 : 0);
    }
}

// Given: yesterday's exercise. The fragments of a warp for 16 of k, a quarter of a stage: four of A, and eight of B in pairs.
__device__ inline void read_fragments(uint32_t (&from_a)[4][4], uint32_t (&from_b)[4][4], uint32_t stage, int quarter, int warp_row,
                                      int warp_column)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 4; i++)
        load_matrices(from_a[i], stage + swizzled(warp_row + 16 * i + lane % 16, 2 * quarter + lane / 16));
#pragma unroll
    for (int j = 0; j < 4; j++)
        load_matrices(from_b[j], stage + TILE_BYTES + swizzled(warp_column + 16 * j + lane / 16 * 8 + lane % 8, 2 * quarter + lane / 8 % 2));
}

extern "C" __global__ void __launch_bounds__(128)
matmul(const uint16_t* a, const uint16_t* b, uint16_t* c, int m, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    const uint32_t ring = shared_address(shared);
    const int tiles_m = ceil_div(m, 128);
    const int first_row = blockIdx.x / tiles_m * 128, first_column = blockIdx.x % tiles_m * 128;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int warp_row = warp % 2 * 64, warp_column = warp / 2 * 64; // the warp's corner in the tile
    const int steps = ceil_div(k, 64);

    float d[4][8][4] = {}; // 4 x 8 products of 16 x 8 results

    auto fetch = [&](int step) {
        //@ fetch
        if (step < steps) {
            const uint32_t stage = ring + step % STAGES * STAGE_BYTES;
            start_copy(stage, a, first_row, step * 64, m, k);
            start_copy(stage + TILE_BYTES, b, first_column, step * 64, n, k);
        }
        copy_commit();
        //@ end

    };
    //@ fill
    for (int step = 0; step < STAGES - 1; step++) fetch(step);
    //@ end

    for (int step = 0; step < steps; step++) {
        //@ wait
        copy_wait<STAGES - 2>();
        __syncthreads();
        fetch(step + STAGES - 1);
        const uint32_t stage = ring + step % STAGES * STAGE_BYTES;
        //@ end

#pragma unroll
        for (int quarter = 0; quarter < 4; quarter++) {
            //@ multiply
            uint32_t from_a[4][4], from_b[4][4];
            read_fragments(from_a, from_b, stage, quarter, warp_row, warp_column);
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 8; j++) mma_bf16(d[i][j], from_a[i], from_b[j / 2][j % 2 * 2], from_b[j / 2][j % 2 * 2 + 1]);
            //@ end

        }
    }

#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
        for (int j = 0; j < 8; j++) {
            //@ store
            const int row = first_row + warp_row + 16 * i + lane / 4;
            const int column = first_column + warp_column + 8 * j + 2 * (lane % 4);
            for (int half = 0; half < 2; half++) {
                const uint32_t two = pack_bf16(d[i][j][2 * half], d[i][j][2 * half + 1]);
                store_rounded(c, row + 8 * half, column, m, n, two);
            }
            //@ end

        }
    }
}

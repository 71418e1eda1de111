// C = A * B^T: ldmatrix from a swizzled tile.
//
// lockstep: block = 128
// lockstep: grid = ceil_div(m, 128) * ceil_div(n, 128)
//
// Against the rung before: ldmatrix fetches four 8 x 8 matrices, a whole fragment of A, in one instruction, and the
// 16-byte pieces of row r are kept in the order p ^ (r % 8), so that the 8 rows of a matrix lie in different banks. No
// conflicts, and a quarter of the load instructions. What is left: load, wait, compute, wait.
#include "mma.cuh"

constexpr int TILE = 128, DEPTH = 64, WARP = 64;

// A 128 x 64 tile from row `first`, element `x`, zeros outside.
__device__ inline void load_tile(uint32_t tile, const uint16_t* matrix, int first, int x, int rows, int k)
{
    if (k % 8) return copy_rows(tile, matrix, first, TILE, x, rows, k, threadIdx.x, 128);
    for (int i = threadIdx.x; i < TILE * 8; i += 128) {
        int row = first + i / 8, column = x + i % 8 * 8;
        uint4 piece = {0, 0, 0, 0};
        if (row < rows && column < k) piece = *reinterpret_cast<const uint4*>(matrix + static_cast<int64_t>(row) * k + column);
        asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(tile + swizzled(i / 8, i % 8)), "r"(piece.x), "r"(piece.y),
                     "r"(piece.z), "r"(piece.w)
                     : "memory");
    }
}

extern "C" __global__ void __launch_bounds__(128) matmul(const uint16_t* a, const uint16_t* b, uint16_t* c, int m, int n, int k)
{
    __shared__ __align__(1024) unsigned char shared[2 * TILE * DEPTH * 2];
    uint32_t a_tile = shared_address(shared), b_tile = a_tile + TILE * DEPTH * 2;
    int tiles_m = ceil_div(m, TILE);
    int row0 = blockIdx.x % tiles_m * TILE, column0 = blockIdx.x / tiles_m * TILE;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int warp_row = warp % 2 * WARP, warp_column = warp / 2 * WARP;
    float d[4][8][4] = {};

    for (int x = 0; x < k; x += DEPTH) {
        load_tile(a_tile, a, row0, x, m, k);
        load_tile(b_tile, b, column0, x, n, k);
        __syncthreads();
#pragma unroll
        for (int step = 0; step < DEPTH / 16; ++step) {
            uint32_t fa[4][4], fb[4][4];
            // Lanes 0-15 point at the 16 rows of the left 8 columns of a 16 x 16 piece of A, lanes 16-31 at those of
            // the right.
#pragma unroll
            for (int i = 0; i < 4; ++i)
                load_matrices(fa[i], a_tile + swizzled(warp_row + i * 16 + lane % 16, step * 2 + lane / 16));
            // 16 rows of B are two fragments: registers 0 and 1 are the left and right half of rows 0-7, 2 and 3 of
            // rows 8-15.
#pragma unroll
            for (int j = 0; j < 4; ++j)
                load_matrices(fb[j], b_tile + swizzled(warp_column + j * 16 + lane / 16 * 8 + lane % 8, step * 2 + lane / 8 % 2));
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j) mma_bf16(d[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            int row = row0 + warp_row + i * 16 + lane / 4, x = column0 + warp_column + j * 8 + lane % 4 * 2;
            store_pair(c, row, x, m, n, d[i][j][0], d[i][j][1]);
            store_pair(c, row + 8, x, m, n, d[i][j][2], d[i][j][3]);
        }
}

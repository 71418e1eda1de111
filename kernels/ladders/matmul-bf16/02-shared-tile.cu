// C = A * B^T: tiles in shared memory.
//
// lockstep: block = 128
// lockstep: grid = ceil_div(m, 128) * ceil_div(n, 128)
//
// Against the rung before: a block makes a 128 x 128 tile of C, and fetches each 128 x 64 tile of A and B once for all
// its four warps, 16 bytes a thread. A warp makes 64 x 64 of it, so that an element read from shared memory serves 64
// products. What is left: a fragment is 4 bytes a thread from 8 rows of 128 bytes, that is 8 threads on each bank, 8
// turns a load.
#include "mma.cuh"

constexpr int TILE = 128, DEPTH = 64, WARP = 64; // DEPTH: elements of K at a time, 128 bytes

// A 128 x 64 tile from row `first`, element `x`, zeros outside. Rows stay in order: piece p of row r is at 128 r + 16
// p.
__device__ inline void load_tile(unsigned char* tile, const uint16_t* matrix, int first, int x, int rows, int k)
{
    for (int i = threadIdx.x; i < TILE * 8; i += 128) {
        int row = first + i / 8, column = x + i % 8 * 8;
        uint4 piece = {0, 0, 0, 0};
        if (row < rows) {
            const uint16_t* from = matrix + static_cast<int64_t>(row) * k + column;
            if (k % 8 == 0) {
                if (column < k) piece = *reinterpret_cast<const uint4*>(from);
            } else { // rows that start anywhere: element by element
                uint32_t words[4] = {};
#pragma unroll
                for (int e = 0; e < 8; ++e) words[e / 2] |= (column + e < k ? from[e] : 0u) << (16 * (e % 2));
                piece = {words[0], words[1], words[2], words[3]};
            }
        }
        reinterpret_cast<uint4*>(tile)[i] = piece;
    }
}

extern "C" __global__ void __launch_bounds__(128) matmul(const uint16_t* a, const uint16_t* b, uint16_t* c, int m, int n, int k)
{
    __shared__ __align__(16) unsigned char a_tile[TILE * DEPTH * 2], b_tile[TILE * DEPTH * 2];
    int tiles_m = ceil_div(m, TILE);
    int row0 = blockIdx.x % tiles_m * TILE, column0 = blockIdx.x / tiles_m * TILE;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int warp_row = warp % 2 * WARP, warp_column = warp / 2 * WARP;
    float d[4][8][4] = {};

    for (int x = 0; x < k; x += DEPTH) {
        load_tile(a_tile, a, row0, x, m, k);
        load_tile(b_tile, b, column0, x, n, k);
        __syncthreads();
        for (int step = 0; step < DEPTH / 16; ++step) {
            // The pair of K at 2 * (lane % 4) of row lane / 4, as mma_bf16 wants it.
            auto pair = [&](const unsigned char* tile, int row, int half) {
                return *reinterpret_cast<const uint32_t*>(tile + (row + lane / 4) * 128 + step * 32 + half * 16 + lane % 4 * 4);
            };
            uint32_t fa[4][4];
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int r = 0; r < 4; ++r) fa[i][r] = pair(a_tile, warp_row + i * 16 + r % 2 * 8, r / 2);
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                uint32_t b0 = pair(b_tile, warp_column + j * 8, 0), b1 = pair(b_tile, warp_column + j * 8, 1);
#pragma unroll
                for (int i = 0; i < 4; ++i) mma_bf16(d[i][j], fa[i], b0, b1);
            }
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

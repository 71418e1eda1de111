// Loads 16 bytes at once where k is even.
// rejected for: misaligned
// leads to: multiple of 16
#include "mma.cuh"
// lockstep: block = 128
// lockstep: grid = ceil_div(n, 64), ceil_div(m, 64)
__device__ inline uint32_t place(int row, int piece)
{
    return row * 128 + (piece ^ row % 8) * 16;
}

__device__ inline uint4 piece_of(const uint16_t* matrix, int row, int x, int rows, int k)
{
    uint32_t words[4] = {};
    if (row < rows && k % 2 == 0) {
        if (x < k) return *reinterpret_cast<const uint4*>(matrix + row * k + x);
    } else if (row < rows) {
#pragma unroll
        for (int e = 0; e < 8; e++) {
            const uint32_t element = x + e < k ? matrix[row * k + x + e] : 0;
            words[e / 2] |= element << (e % 2 * 16);
        }
    }
    return make_uint4(words[0], words[1], words[2], words[3]);
}

__device__ inline void copy_tile(unsigned char* tile, const uint16_t* matrix, int first_row, int start, int rows, int k)
{
    for (int i = threadIdx.x; i < 64 * 8; i += 128) {
        const int row = i / 8, piece = i % 8;
        *reinterpret_cast<uint4*>(tile + place(row, piece)) = piece_of(matrix, first_row + row, start + 8 * piece, rows, k);
    }
}

extern "C" __global__ void tile_product(const uint16_t* a, const uint16_t* b, float* c, int m, int n, int k)
{
    __shared__ __align__(1024) unsigned char tile_a[64 * 128];
    __shared__ __align__(1024) unsigned char tile_b[64 * 128];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int first_row = blockIdx.y * 64, first_column = blockIdx.x * 64;
    const int warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;
    float d[2][4][4] = {};
    for (int start = 0; start < k; start += 64) {
        copy_tile(tile_a, a, first_row, start, m, k);
        copy_tile(tile_b, b, first_column, start, n, k);
        __syncthreads();
#pragma unroll
        for (int step = 0; step < 4; step++) {
            uint32_t from_a[2][4], from_b[2][4];
            for (int i = 0; i < 2; i++) {
                const int row = warp_row + 16 * i + lane % 16;
                const int piece = 2 * step + lane / 16;
                load_matrices(from_a[i], shared_address(tile_a + place(row, piece)));
            }
            for (int j = 0; j < 2; j++) {
                const int row = warp_column + 16 * j + lane / 16 * 8 + lane % 8;
                const int piece = 2 * step + lane / 8 % 2;
                load_matrices(from_b[j], shared_address(tile_b + place(row, piece)));
            }
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 4; j++) mma_bf16(d[i][j], from_a[i], from_b[j / 2][j % 2 * 2], from_b[j / 2][j % 2 * 2 + 1]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++) {
            const int row = first_row + warp_row + 16 * i + lane / 4;
            const int column = first_column + warp_column + 8 * j + 2 * (lane % 4);
            store_pair(c, row, column, m, n, d[i][j][0], d[i][j][1]);
            store_pair(c, row + 8, column, m, n, d[i][j][2], d[i][j][3]);
        }
}

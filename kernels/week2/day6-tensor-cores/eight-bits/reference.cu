// Each warp makes 32 x 32 of C: two fragments of A and four of B meet in eight products, so that every load serves 8 or 4 of them.
// Where k is a multiple of four, four bytes are one load.
#include "mma.cuh"

// lockstep: block = 32, 4
// lockstep: grid = ceil_div(n, 64), ceil_div(m, 64)
#define ROWS 2    // fragments of A a warp, 16 rows each
#define COLUMNS 4 // fragments of B a warp, 8 columns each

// Elements x to x + 3 of a row in one register, x in the lowest byte; zeros outside.
__device__ inline uint32_t four(const uint8_t* matrix, int row, int x, int rows, int k)
{
    if (row >= rows) return 0;
    const uint8_t* from = matrix + static_cast<int64_t>(row) * k + x;
    if (k % 4 == 0) return x < k ? *reinterpret_cast<const uint32_t*>(from) : 0;
    uint32_t word = 0;
#pragma unroll
    for (int e = 0; e < 4; ++e) word |= static_cast<uint32_t>(x + e < k ? from[e] : 0) << (8 * e);
    return word;
}

extern "C" __global__ void mma_bytes(const uint8_t* a, const uint8_t* b, float* c, int m, int n, int k)
{
    const int lane = threadIdx.x, warp = threadIdx.y, g = lane / 4, t = lane % 4;
    const int row = blockIdx.y * 64 + warp / 2 * 32, column = blockIdx.x * 64 + warp % 2 * 32;
    float d[ROWS][COLUMNS][4] = {};
    for (int x = 0; x < k; x += 32) {
        uint32_t from_a[ROWS][4], from_b[COLUMNS][2];
#pragma unroll
        for (int i = 0; i < ROWS; ++i)
#pragma unroll
            for (int r = 0; r < 4; ++r) from_a[i][r] = four(a, row + 16 * i + g + r % 2 * 8, x + 4 * t + r / 2 * 16, m, k);
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j)
#pragma unroll
            for (int r = 0; r < 2; ++r) from_b[j][r] = four(b, column + 8 * j + g, x + 4 * t + r * 16, n, k);
#pragma unroll
        for (int i = 0; i < ROWS; ++i)
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j) mma_e4m3(d[i][j], from_a[i], from_b[j][0], from_b[j][1]);
    }
#pragma unroll
    for (int i = 0; i < ROWS; ++i)
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j) {
            store_pair(c, row + 16 * i + g, column + 8 * j + 2 * t, m, n, d[i][j][0], d[i][j][1]);
            store_pair(c, row + 16 * i + g + 8, column + 8 * j + 2 * t, m, n, d[i][j][2], d[i][j][3]);
        }
}

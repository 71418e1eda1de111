// Each warp makes 32 x 32 of C: two fragments of A and four of B meet in eight products, so that every load serves 8 or 4 of them.
// The elements come in pairs; where k is even a pair is one load of 4 bytes.
#include "mma.cuh"

// lockstep: block = 32, 4
// lockstep: grid = ceil_div(n, 64), ceil_div(m, 64)
#define ROWS 2    // fragments of A a warp, 16 rows each
#define COLUMNS 4 // fragments of B a warp, 8 columns each

// Elements x and x + 1 of a row in one register, x in the low half; zeros outside.
__device__ inline uint32_t pair(const uint16_t* matrix, int row, int x, int rows, int k)
{
    if (row >= rows) return 0;
    const uint16_t* from = matrix + static_cast<int64_t>(row) * k + x;
    if (k % 2 == 0) return x < k ? *reinterpret_cast<const uint32_t*>(from) : 0;
    uint32_t low = x < k ? from[0] : 0, high = x + 1 < k ? from[1] : 0;
    return low | high << 16;
}

extern "C" __global__ void mma_tile(const uint16_t* a, const uint16_t* b, float* c, int m, int n, int k)
{
    const int lane = threadIdx.x, warp = threadIdx.y, g = lane / 4, t = lane % 4;
    const int row = blockIdx.y * 64 + warp / 2 * 32, column = blockIdx.x * 64 + warp % 2 * 32;
    float d[ROWS][COLUMNS][4] = {};
    for (int x = 0; x < k; x += 16) {
        uint32_t from_a[ROWS][4], from_b[COLUMNS][2];
#pragma unroll
        for (int i = 0; i < ROWS; ++i)
#pragma unroll
            for (int r = 0; r < 4; ++r) from_a[i][r] = pair(a, row + 16 * i + g + r % 2 * 8, x + 2 * t + r / 2 * 8, m, k);
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j)
#pragma unroll
            for (int r = 0; r < 2; ++r) from_b[j][r] = pair(b, column + 8 * j + g, x + 2 * t + r * 8, n, k);
#pragma unroll
        for (int i = 0; i < ROWS; ++i)
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j) mma_bf16(d[i][j], from_a[i], from_b[j][0], from_b[j][1]);
    }
#pragma unroll
    for (int i = 0; i < ROWS; ++i)
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j) {
            store_pair(c, row + 16 * i + g, column + 8 * j + 2 * t, m, n, d[i][j][0], d[i][j][1]);
            store_pair(c, row + 16 * i + g + 8, column + 8 * j + 2 * t, m, n, d[i][j][2], d[i][j][3]);
        }
}

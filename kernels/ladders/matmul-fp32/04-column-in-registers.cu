#include "lab.cuh"

// Matrix product, rung 4: a thread computes a column of ROWS outputs, so that what it reads once serves ROWS times.
//
// Eight sums live in registers. For each step along k a thread reads one element of b and eight of a: 9 loads from
// shared memory for 8 multiplications in place of 16. The tiles grow to 64 x 64 outputs for 512 threads, which also
// halves what comes from global memory.
// lockstep: block = 512
// lockstep: grid = ceil_div(n, BN), ceil_div(m, BM)
#define BM 64
#define BN 64
#define BK 32
#define ROWS 8
#define THREADS (BM * BN / ROWS)

extern "C" __global__ void __launch_bounds__(THREADS)
    matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k)
{
    __shared__ float tile_a[BM][BK], tile_b[BK][BN];
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    const int my_row = threadIdx.x / BN * ROWS, my_col = threadIdx.x % BN;
    float sum[ROWS] = {};
    for (int k0 = 0; k0 < k; k0 += BK) {
        for (int at = threadIdx.x; at < BM * BK; at += THREADS) {
            const int row = at / BK, col = at % BK;
            tile_a[row][col] = row0 + row < m && k0 + col < k ? a[(long long)(row0 + row) * k + k0 + col] : 0.0f;
        }
        for (int at = threadIdx.x; at < BK * BN; at += THREADS) {
            const int row = at / BN, col = at % BN;
            tile_b[row][col] = k0 + row < k && col0 + col < n ? b[(long long)(k0 + row) * n + col0 + col] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < BK; i++) {
            const float y = tile_b[i][my_col];
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                sum[r] += tile_a[my_row + r][i] * y;
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (row0 + my_row + r < m && col0 + my_col < n) {
            c[(long long)(row0 + my_row + r) * n + col0 + my_col] = sum[r];
        }
    }
}

#include "lab.cuh"

// Matrix product, rung 5: a thread computes a square of 8 x 8 outputs.
//
// A column of eight reused one operand; a square reuses both. 8 elements of a and 8 of b make 64 products: 16 loads
// from shared memory for 64 multiplications, a quarter of a load for each where rung 4 needed more than one. The square
// is not contiguous: rows and columns are 16 apart, so that the 32 lanes of a warp always read neighboring words of b
// (and two words of a), with no bank conflict, and store neighboring elements of c.
// lockstep: block = 256
// lockstep: grid = ceil_div(n, BN), ceil_div(m, BM)
#define BM 128
#define BN 128
#define BK 8
#define THREADS 256

extern "C" __global__ void __launch_bounds__(THREADS)
    matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k)
{
    __shared__ float tile_a[BM][BK], tile_b[BK][BN];
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    const int my_row = threadIdx.x / 16, my_col = threadIdx.x % 16;
    float sum[8][8] = {};
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
            float x[8], y[8];
#pragma unroll
            for (int e = 0; e < 8; e++) {
                x[e] = tile_a[my_row + 16 * e][i];
                y[e] = tile_b[i][my_col + 16 * e];
            }
#pragma unroll
            for (int r = 0; r < 8; r++) {
#pragma unroll
                for (int s = 0; s < 8; s++) {
                    sum[r][s] += x[r] * y[s];
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 8; r++) {
#pragma unroll
        for (int s = 0; s < 8; s++) {
            const int row = row0 + my_row + 16 * r, col = col0 + my_col + 16 * s;
            if (row < m && col < n) {
                c[(long long)row * n + col] = sum[r][s];
            }
        }
    }
}

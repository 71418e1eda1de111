#include "lab.cuh"

// Tiles of 64 x 64, 4 x 4 elements for each thread. Its rows and columns are 16 apart, so that the lanes of a warp read
// neighboring words of the tiles.
// lockstep: batched_matmul.block = 256
// lockstep: batched_matmul.grid = ceil_div(n, TILE), ceil_div(m, TILE), batch
#define TILE 64
#define DEPTH 16

extern "C" __global__ void __launch_bounds__(256)
    batched_matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ products, int m, int n,
                   int k, int lda, int stride_a, int stride_b, int stride_c)
{
    __shared__ float tile_a[DEPTH][TILE + 1], tile_b[DEPTH][TILE];
    const int thread = threadIdx.x, x = thread % 16, y = thread / 16;
    const int first_row = blockIdx.y * TILE, first_column = blockIdx.x * TILE;
    a += (long long)blockIdx.z * stride_a;
    b += (long long)blockIdx.z * stride_b;
    products += (long long)blockIdx.z * stride_c;
    float sum[4][4] = {};

    for (int start = 0; start < k; start += DEPTH) {
#pragma unroll
        for (int part = 0; part < TILE * DEPTH / 256; part++) {
            const int e = part * 256 + thread;
            const int row = first_row + e / DEPTH, at = start + e % DEPTH;
            tile_a[e % DEPTH][e / DEPTH] = row < m && at < k ? a[(long long)row * lda + at] : 0.0f;
            const int from = start + e / TILE, column = first_column + e % TILE;
            tile_b[e / TILE][e % TILE] = from < k && column < n ? b[(long long)from * n + column] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int d = 0; d < DEPTH; d++) {
            float from_a[4], from_b[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                from_a[i] = tile_a[d][y + 16 * i];
                from_b[i] = tile_b[d][x + 16 * i];
            }
#pragma unroll
            for (int i = 0; i < 4; i++) {
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    sum[i][j] += from_a[i] * from_b[j];
                }
            }
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const int row = first_row + y + 16 * i, column = first_column + x + 16 * j;
            if (row < m && column < n) {
                products[(long long)row * n + column] = sum[i][j];
            }
        }
    }
}

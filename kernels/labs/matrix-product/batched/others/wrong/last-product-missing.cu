// The grid is one layer short.
// rejected for: wrong_output
// leads to: left out
#include "lab.cuh"

// lockstep: batched_matmul.grid = ceil_div(n, 16), ceil_div(m, 16), max(batch - 1, 1)
#define TILE 16

extern "C" __global__ void batched_matmul(const float* a, const float* b, float* products, int m, int n, int k, int lda,
                                          int stride_a, int stride_b, int stride_c)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    a += (long long)blockIdx.z * stride_a;
    b += (long long)blockIdx.z * stride_b;
    products += (long long)blockIdx.z * stride_c;
    float sum = 0.0f;
    for (int start = 0; start < k; start += TILE) {
        const int at = start + threadIdx.x, from = start + threadIdx.y;
        tile_a[threadIdx.y][threadIdx.x] = row < m && at < k ? a[row * lda + at] : 0.0f;
        tile_b[threadIdx.y][threadIdx.x] = from < k && column < n ? b[from * n + column] : 0.0f;
        __syncthreads();
        for (int d = 0; d < TILE; d++) {
            sum += tile_a[threadIdx.y][d] * tile_b[d][threadIdx.x];
        }
        __syncthreads();
    }
    if (row < m && column < n) {
        products[row * n + column] = sum;
    }
}

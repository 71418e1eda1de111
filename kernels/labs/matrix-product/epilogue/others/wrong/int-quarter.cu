// 1 / 4 is 0 in whole numbers.
// rejected for: wrong_output
// leads to: a factor of 0.25
#include "lab.cuh"

// y = activation(x * w + bias): x is m x k, w is k x n, y is m x n, bias has one number for each column.
#define TILE 16

extern "C" __global__ void linear(const float* x, const float* w, const float* bias, float* y, int m, int n, int k)
{
    __shared__ float tile_x[TILE][TILE], tile_w[TILE][TILE];
    const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int start = 0; start < k; start += TILE) {
        const int x_column = start + threadIdx.x, w_row = start + threadIdx.y;
        tile_x[threadIdx.y][threadIdx.x] = row < m && x_column < k ? x[row * k + x_column] : 0.0f;
        tile_w[threadIdx.y][threadIdx.x] = w_row < k && column < n ? w[w_row * n + column] : 0.0f;
        __syncthreads();
        for (int d = 0; d < TILE; d++) {
            sum += tile_x[threadIdx.y][d] * tile_w[d][threadIdx.x];
        }
        __syncthreads();
    }
    if (row < m && column < n) {
        const float v = sum + bias[column];
        y[row * n + column] = v > 0.0f ? v : 1 / 4 * v;
    }
}

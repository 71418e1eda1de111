// Loads the last element again instead of a zero outside.
// rejected for: wrong_output
// leads to: belongs a zero
#include "lab.cuh"
// lockstep: block = TILE, TILE
#define TILE 16
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0.0f;
    
    for (int start = 0; start < k; start += TILE) {
        tile_a[y][x] = a[min(row, m - 1) * k + min(start + x, k - 1)];
        tile_b[y][x] = b[min(start + y, k - 1) * n + min(column, n - 1)];
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += tile_a[y][i] * tile_b[i][x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

// x is the row in the block; tiles stored so that neighbors write neighbors.
#include "lab.cuh"
// lockstep: block = TILE, TILE
#define TILE 16
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * TILE + x, column = blockIdx.x * TILE + y;
    float sum = 0.0f;
    
    for (int start = 0; start < k; start += TILE) {
        tile_a[y][x] = blockIdx.y * TILE + y < m && start + x < k ? a[(blockIdx.y * TILE + y) * k + start + x] : 0.0f;
        tile_b[y][x] = start + y < k && blockIdx.x * TILE + x < n ? b[(start + y) * n + blockIdx.x * TILE + x] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += tile_a[x][i] * tile_b[i][y];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

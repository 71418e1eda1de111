// The barrier stands before the tiles are loaded, once in each round.
// rejected for: race
// leads to: between loading and using
#include "lab.cuh"

// lockstep: block = TILE, TILE
#define TILE 16

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int row = blockIdx.y * TILE + y;
    const int column = blockIdx.x * TILE + x;

    float sum = 0.0f;
    for (int start = 0; start < k; start += TILE) {
        __syncthreads();
        tile_a[y][x] = row < m && start + x < k ? a[row * k + start + x] : 0.0f;
        tile_b[y][x] = start + y < k && column < n ? b[(start + y) * n + column] : 0.0f;
        for (int i = 0; i < TILE; i++) {
            sum += tile_a[y][i] * tile_b[i][x];
        }
    }
    if (row < m && column < n) {
        c[row * n + column] = sum;
    }
}

// Counts whole tiles only: k / TILE rounds, and no bounds.
// rejected for: out_of_bounds
// leads to: hang over the edge
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
    for (int t = 0; t < ceil_div(k, TILE); t++) {
        const int start = t * TILE;
        tile_a[y][x] = a[row * k + start + x];
        tile_b[y][x] = b[(start + y) * n + column];
        __syncthreads();
        for (int i = 0; i < TILE; i++) {
            sum += tile_a[y][i] * tile_b[i][x];
        }
        __syncthreads();
    }
    if (row < m && column < n) {
        c[row * n + column] = sum;
    }
}

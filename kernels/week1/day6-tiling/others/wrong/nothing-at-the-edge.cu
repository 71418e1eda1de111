// Loads nothing where a tile hangs over the edge.
// rejected for: uninitialised
// leads to: zero
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
        if (row < m && start + x < k) tile_a[y][x] = a[row * k + start + x];
        if (start + y < k && column < n) tile_b[y][x] = b[(start + y) * n + column];
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

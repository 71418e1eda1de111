// Declares two dynamic arrays, which are the same memory.
// rejected for: wrong_output
// leads to: both factors are read from the tile of b
#include "lab.cuh"
// lockstep: block = TILE, TILE
#define TILE 16
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    extern __shared__ float tile_a[];
    extern __shared__ float tile_b[];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, col = blockIdx.x * TILE + x;
    float sum = 0;
    // lockstep: dynamic_shared_bytes = 8 * TILE * TILE
    for (int s = 0; s < k; s += TILE) {
        tile_a[y * TILE + x] = row < m && s + x < k ? a[row * k + s + x] : 0;
        tile_b[y * TILE + x] = col < n && s + y < k ? b[(s + y) * n + col] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += tile_a[y * TILE + i] * tile_b[i * TILE + x];
        __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = sum;
}

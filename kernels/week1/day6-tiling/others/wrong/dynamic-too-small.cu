// Asks for one tile of dynamic shared memory and uses two.
// rejected for: out_of_bounds
// leads to: past its end
#include "lab.cuh"
// lockstep: block = TILE, TILE
// lockstep: dynamic_shared_bytes = 4 * TILE * TILE
#define TILE 16
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    extern __shared__ float s[]; float (*tile_a)[TILE] = (float (*)[TILE])s; float (*tile_b)[TILE] = tile_a + TILE;
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0.0f;
    
    for (int start = 0; start < k; start += TILE) {
        tile_a[y][x] = row < m && start + x < k ? a[row * k + start + x] : 0.0f;
        tile_b[y][x] = start + y < k && column < n ? b[(start + y) * n + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += tile_a[y][i] * tile_b[i][x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

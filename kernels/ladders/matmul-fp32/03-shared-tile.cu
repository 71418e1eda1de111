#include "lab.cuh"

// Matrix product, rung 3: what a block reads from global memory, it reads once and keeps in shared memory.
//
// A block of 32 x 32 threads walks along k in steps of 32. It copies a square of a and a square of b, waits until all
// threads have, and multiplies: every element fetched serves 32 threads. Loads from global memory shrink to 1/32;
// what is left per multiplication is two loads from shared memory, and those are the next limit: a multiprocessor
// does 128 multiplications a clock but delivers only 32 words of shared memory.
// lockstep: block = TILE, TILE
// lockstep: grid = ceil_div(n, TILE), ceil_div(m, TILE)
#define TILE 32

extern "C" __global__ void matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                  int m, int n, int k)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int col = blockIdx.x * TILE + x;
    const int row = blockIdx.y * TILE + y;
    float sum = 0.0f;
    for (int k0 = 0; k0 < k; k0 += TILE) {
        // Outside the matrices there are zeros, which add nothing.
        tile_a[y][x] = row < m && k0 + x < k ? a[(long long)row * k + k0 + x] : 0.0f;
        tile_b[y][x] = k0 + y < k && col < n ? b[(long long)(k0 + y) * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; i++) {
            sum += tile_a[y][i] * tile_b[i][x];
        }
        // No thread may overwrite the tiles while another still reads them.
        __syncthreads();
    }
    if (row < m && col < n) {
        c[(long long)row * n + col] = sum;
    }
}

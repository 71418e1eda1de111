// Steps by 32 rows through a tile that is loaded 16 rows at a time.
// rejected for: uninitialised
// leads to: which nobody wrote
#include "lab.cuh"
// lockstep: block = 16, 16
// lockstep: grid = ceil_div(n, TILE), ceil_div(m, TILE)
#define TILE 64
#define DEPTH 16
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float tile_a[TILE][DEPTH], tile_b[DEPTH][TILE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int r0 = blockIdx.y * TILE, c0 = blockIdx.x * TILE;
    float sum[4][4] = {};
    for (int start = 0; start < k; start += DEPTH) {
        for (int i = y; i < TILE; i += 32)
            tile_a[i][x] = r0 + i < m && start + x < k ? a[(r0 + i) * k + start + x] : 0;
        for (int j = x; j < TILE; j += 16)
            tile_b[y][j] = c0 + j < n && start + y < k ? b[(start + y) * n + c0 + j] : 0;
        __syncthreads();
        for (int d = 0; d < DEPTH; d++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    sum[i][j] += tile_a[y + 16 * i][d] * tile_b[d][x + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            if (r0 + y + 16 * i < m && c0 + x + 16 * j < n) c[(r0 + y + 16 * i) * n + c0 + x + 16 * j] = sum[i][j];
}

// Loads the next tile into registers early, without a bound along k.
// rejected for: out_of_bounds
// leads to: past its end
#include "lab.cuh"
// lockstep: block = 16, 16
// lockstep: grid = ceil_div(n, TILE), ceil_div(m, TILE)
#define TILE 64
#define DEPTH 16
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float tile_a[TILE][DEPTH + 1];
    __shared__ float tile_b[DEPTH][TILE];
    const int x = threadIdx.x, y = threadIdx.y, thread = 16 * y + x;
    const int r0 = blockIdx.y * TILE, c0 = blockIdx.x * TILE;
    float sum[4][4] = {}, ra[4], rb[4];
    for (int q = 0; q < 4; q++) {
        int e = thread + 256 * q;
        int i = e / DEPTH, j = e % DEPTH;
        ra[q] = r0 + i < m && j < k ? a[(r0 + i) * k + j] : 0;
        i = e / TILE; j = e % TILE;
        rb[q] = c0 + j < n && i < k ? b[i * n + c0 + j] : 0;
    }
    for (int start = 0; start < k; start += DEPTH) {
        for (int q = 0; q < 4; q++) {
            int e = thread + 256 * q;
            tile_a[e / DEPTH][e % DEPTH] = ra[q];
            tile_b[e / TILE][e % TILE] = rb[q];
        }
        __syncthreads();
        for (int q = 0; q < 4; q++) {
            int e = thread + 256 * q, next = start + DEPTH;
            int i = e / DEPTH, j = e % DEPTH;
            ra[q] = r0 + i < m ? a[(r0 + i) * k + next + j] : 0;
            i = e / TILE; j = e % TILE;
            rb[q] = c0 + j < n ? b[(next + i) * n + c0 + j] : 0;
        }
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

// A thread's rows and columns side by side.
#include "lab.cuh"

// lockstep: block = 16, 16
// lockstep: grid = ceil_div(n, TILE), ceil_div(m, TILE)
#define TILE 64
#define DEPTH 16

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float tile_a[TILE][DEPTH];
    __shared__ float tile_b[DEPTH][TILE];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int thread = 16 * y + x;
    const int first_row = blockIdx.y * TILE;
    const int first_column = blockIdx.x * TILE;

    float sum[4][4] = {};
    for (int start = 0; start < k; start += DEPTH) {
        // Neighboring threads load neighboring elements of a row, in both tiles.
        for (int e = thread; e < TILE * DEPTH; e += 256) {
            const int row = first_row + e / DEPTH, column = start + e % DEPTH;
            tile_a[e / DEPTH][e % DEPTH] = row < m && column < k ? a[row * k + column] : 0.0f;
        }
        for (int e = thread; e < DEPTH * TILE; e += 256) {
            const int row = start + e / TILE, column = first_column + e % TILE;
            tile_b[e / TILE][e % TILE] = row < k && column < n ? b[row * n + column] : 0.0f;
        }
        __syncthreads();

        for (int d = 0; d < DEPTH; d++) {
            float from_a[4], from_b[4];
            for (int i = 0; i < 4; i++) {
                from_a[i] = tile_a[4 * y + i][d];
                from_b[i] = tile_b[d][4 * x + i];
            }
            for (int i = 0; i < 4; i++) {
                for (int j = 0; j < 4; j++) {
                    sum[i][j] += from_a[i] * from_b[j];
                }
            }
        }
        __syncthreads();
    }

    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            const int row = first_row + 4 * y + i, column = first_column + 4 * x + j;
            if (row < m && column < n) {
                c[row * n + column] = sum[i][j];
            }
        }
    }
}

// Uses the bias of the tile's first column.
// rejected for: wrong_output
// leads to: bias[column]
#include "lab.cuh"

// lockstep: linear.block = 256
// lockstep: linear.grid = ceil_div(n, TILE), ceil_div(m, TILE)
#define TILE 64
#define DEPTH 16

extern "C" __global__ void linear(const float* x, const float* w, const float* bias, float* y, int m, int n, int k)
{
    __shared__ float tile_x[TILE][DEPTH + 1], tile_w[DEPTH][TILE];
    const int thread = threadIdx.x, tx = thread % 16, ty = thread / 16;
    const int first_row = blockIdx.y * TILE, first_column = blockIdx.x * TILE;
    float sum[4][4] = {};

    for (int start = 0; start < k; start += DEPTH) {
        for (int e = thread; e < TILE * DEPTH; e += 256) {
            const int row = first_row + e / DEPTH, at = start + e % DEPTH;
            tile_x[e / DEPTH][e % DEPTH] = row < m && at < k ? x[row * k + at] : 0.0f;
            const int from = start + e / TILE, column = first_column + e % TILE;
            tile_w[e / TILE][e % TILE] = from < k && column < n ? w[from * n + column] : 0.0f;
        }
        __syncthreads();
        for (int d = 0; d < DEPTH; d++) {
            for (int i = 0; i < 4; i++) {
                const float from_x = tile_x[ty + 16 * i][d];
                for (int j = 0; j < 4; j++) {
                    sum[i][j] += from_x * tile_w[d][tx + 16 * j];
                }
            }
        }
        __syncthreads();
    }

    for (int j = 0; j < 4; j++) {
        const int column = first_column + tx + 16 * j;
        const float shift = column < n ? bias[first_column] : 0.0f;
        for (int i = 0; i < 4; i++) {
            const int row = first_row + ty + 16 * i;
            if (row < m && column < n) {
                const float v = sum[i][j] + shift;
                y[row * n + column] = v < 0.0f ? 0.25f * v : v;
            }
        }
    }
}

// B is large enough.
// rejected for: out_of_bounds
// leads to: rows of B have n
#include "mma.cuh"
// lockstep: block = 128
// lockstep: grid = ceil_div(n, TILE), ceil_div(m, TILE)
#define TILE 32
#define DEPTH 16
#define STAGES 4

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ __align__(16) float tile_a[STAGES][TILE][DEPTH];
    __shared__ __align__(16) float tile_b[STAGES][DEPTH][TILE];
    const int first_row = blockIdx.y * TILE;
    const int first_column = blockIdx.x * TILE;
    const int steps = ceil_div(k, DEPTH);
    const int a_row = threadIdx.x / 4, a_column = threadIdx.x % 4 * 4;
    const int b_row = threadIdx.x / 8, b_column = threadIdx.x % 8 * 4;
    auto fetch = [&](int step) {
        if (step < steps) {
            const int stage = step % STAGES;
            const int row = first_row + a_row, column = step * DEPTH + a_column;
            const bool in_a = row < m && column < k;
            copy_async(shared_address(&tile_a[stage][a_row][a_column]), in_a ? a + row * k + column : a, in_a ? 16 : 0);
            const int row_b = step * DEPTH + b_row, column_b = first_column + b_column;
            const bool in_b = row_b < k && column_b < n;
            copy_async(shared_address(&tile_b[stage][b_row][b_column]), b + row_b * n + column_b, 16);
        }
        copy_commit();
    };
    const int x = threadIdx.x % 16, y = threadIdx.x / 16;
    float sum[4][2] = {};

    for (int step = 0; step < STAGES - 1; step++) {
        fetch(step);
    }

    for (int step = 0; step < steps; step++) {
        const int stage = step % STAGES;
        copy_wait<STAGES - 2>();
        __syncthreads();

        for (int d = 0; d < DEPTH; d++) {
            for (int i = 0; i < 4; i++) {
                for (int j = 0; j < 2; j++) {
                    sum[i][j] += tile_a[stage][y + 8 * i][d] * tile_b[stage][d][x + 16 * j];
                }
            }
        }
        fetch(step + STAGES - 1);
    }

    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 2; j++) {
            const int row = first_row + y + 8 * i, column = first_column + x + 16 * j;
            if (row < m && column < n) {
                c[row * n + column] = sum[i][j];
            }
        }
    }
}

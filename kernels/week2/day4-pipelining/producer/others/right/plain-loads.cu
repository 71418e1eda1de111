// A warp of its own, but it loads through registers.
// does not reach: Tiles by asynchronous copies
// does not reach: No barrier for the whole block
#include "tma.cuh"
// lockstep: block = 160
// lockstep: grid = ceil_div(n, TILE), ceil_div(m, TILE)
#define TILE 32
#define DEPTH 16
#define STAGES 4

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ __align__(16) float tile_a[STAGES][TILE][DEPTH];
    __shared__ __align__(16) float tile_b[STAGES][DEPTH][TILE];
    __shared__ uint64_t full[STAGES];
    __shared__ uint64_t empty[STAGES];
    const int first_row = blockIdx.y * TILE;
    const int first_column = blockIdx.x * TILE;
    const int steps = ceil_div(k, DEPTH);

    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            barrier_init(shared_address(&full[s]), 32);
            barrier_init(shared_address(&empty[s]), 128);
        }
    }
    __syncthreads();

    if (threadIdx.x >= 128) {
        const int lane = threadIdx.x - 128;
        for (int step = 0; step < steps; step++) {
            const int stage = step % STAGES;
            const int lap = step / STAGES;
            barrier_wait(shared_address(&empty[stage]), (lap + 1) % 2);
            for (int p = lane; p < 128; p += 32) {
                const int a_row = p / 4, a_column = p % 4 * 4;
                const int row = first_row + a_row, column = step * DEPTH + a_column;
                const bool in_a = row < m && column < k;
                *(float4*)&tile_a[stage][a_row][a_column] = in_a ? *(const float4*)(a + row * k + column) : make_float4(0, 0, 0, 0);
                const int b_row = p / 8, b_column = p % 8 * 4;
                const int row_b = step * DEPTH + b_row, column_b = first_column + b_column;
                const bool in_b = row_b < k && column_b < n;
                *(float4*)&tile_b[stage][b_row][b_column] = in_b ? *(const float4*)(b + row_b * n + column_b) : make_float4(0, 0, 0, 0);
            }

            barrier_arrive(shared_address(&full[stage]));
        }
    } else {
        const int x = threadIdx.x % 16, y = threadIdx.x / 16;
        float sum[4][2] = {};
        for (int step = 0; step < steps; step++) {
            const int stage = step % STAGES;
            const int lap = step / STAGES;
            barrier_wait(shared_address(&full[stage]), lap % 2);

            for (int d = 0; d < DEPTH; d++) {
                for (int i = 0; i < 4; i++) {
                    for (int j = 0; j < 2; j++) {
                        sum[i][j] += tile_a[stage][y + 8 * i][d] * tile_b[stage][d][x + 16 * j];
                    }
                }
            }

            barrier_arrive(shared_address(&empty[stage]));
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
}

#include "lab.cuh"

// Step 4 of the ladder: a thread makes PER_THREAD elements of one column of C instead of one. It reads an element of B's
// tile once and uses it PER_THREAD times from a register: 1 + 1 / PER_THREAD reads of shared memory for each
// multiply-add, where there were 2.
// lockstep: block = TILE, ROWS
// lockstep: grid = ceil_div(n, TILE), ceil_div(m, TILE)
#define TILE 64
#define DEPTH 8
#define ROWS 8
#define PER_THREAD (TILE / ROWS)

extern "C" __global__ void matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                  int m, int n, int k)
{
    __shared__ float tile_a[TILE][DEPTH];
    __shared__ float tile_b[DEPTH][TILE];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int thread = TILE * y + x;
    const int first_row = blockIdx.y * TILE;
    const int column = blockIdx.x * TILE + x;

    float sum[PER_THREAD] = {};
    for (int start = 0; start < k; start += DEPTH) {
        for (int e = thread; e < TILE * DEPTH; e += TILE * ROWS) {
            const int row = first_row + e / DEPTH, i = start + e % DEPTH;
            tile_a[e / DEPTH][e % DEPTH] = row < m && i < k ? a[(size_t)row * k + i] : 0.0f;
        }
        for (int d = y; d < DEPTH; d += ROWS) {
            tile_b[d][x] = start + d < k && column < n ? b[(size_t)(start + d) * n + column] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int d = 0; d < DEPTH; d++) {
            //@ reuse
            const float from_b = tile_b[d][x];
#pragma unroll
            for (int i = 0; i < PER_THREAD; i++) {
                sum[i] += tile_a[y * PER_THREAD + i][d] * from_b;
            }
            //@ end
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < PER_THREAD; i++) {
        const int row = first_row + y * PER_THREAD + i;
        if (row < m && column < n) {
            c[(size_t)row * n + column] = sum[i];
        }
    }
}

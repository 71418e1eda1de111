#include "lab.cuh"

// C = A * B with a C that is tall and thin. The rows go along the grid's x, which may be longer than y.
// A block makes ROWS x COLUMNS elements, a thread EACH of them, all in one column: rows `row`, `row + 16`, `row + 32`, …
// lockstep: block = THREADS
// lockstep: grid = ceil_div(m, ROWS), ceil_div(n, COLUMNS)
#define THREADS 256
#define ROWS 128
#define COLUMNS 16
#define DEPTH 32
#define EACH (ROWS * COLUMNS / THREADS)

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float tile_a[ROWS][DEPTH + 1], tile_b[DEPTH][COLUMNS];
    const int thread = threadIdx.x;
    const int first_row = blockIdx.x * ROWS, first_column = blockIdx.y * COLUMNS;
    const int row = thread / COLUMNS, column = thread % COLUMNS;
    float sum[EACH] = {};

    for (int start = 0; start < k; start += DEPTH) {
        // TODO 1: load ROWS x DEPTH elements of A and DEPTH x COLUMNS of B, with zeros outside of the matrices.

        __syncthreads();
        // TODO 2: add DEPTH products to each of this thread's sums.

        __syncthreads();
    }

    for (int i = 0; i < EACH; i++) {
        const int to = first_row + row + THREADS / COLUMNS * i;
        if (to < m && first_column + column < n) {
            c[(long long)to * n + first_column + column] = sum[i];
        }
    }
}

// Past the end of a row of A it loads the next row: the zeros of B are enough.
#include "lab.cuh"

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
        for (int e = thread; e < ROWS * DEPTH; e += THREADS) {
            const int from = first_row + e / DEPTH, at = start + e % DEPTH;
            tile_a[e / DEPTH][e % DEPTH] = from < m && from * (long long)k + at < (long long)m * k ? a[(long long)from * k + at] : 0.0f;
        }
        for (int e = thread; e < DEPTH * COLUMNS; e += THREADS) {
            const int from = start + e / COLUMNS, at = first_column + e % COLUMNS;
            tile_b[e / COLUMNS][e % COLUMNS] = from < k && at < n ? b[from * n + at] : 0.0f;
        }
        __syncthreads();
        for (int d = 0; d < DEPTH; d++) {
            const float from_b = tile_b[d][column];
            for (int i = 0; i < EACH; i++) {
                sum[i] += tile_a[row + THREADS / COLUMNS * i][d] * from_b;
            }
        }
        __syncthreads();
    }

    for (int i = 0; i < EACH; i++) {
        const int to = first_row + row + THREADS / COLUMNS * i;
        if (to < m && first_column + column < n) {
            c[(long long)to * n + first_column + column] = sum[i];
        }
    }
}

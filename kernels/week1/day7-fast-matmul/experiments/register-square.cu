#include "lab.cuh"

// Step 5 of the ladder: a thread makes a square of EDGE x EDGE elements of C. In each step it reads EDGE elements of
// each tile and does EDGE * EDGE multiply-adds: 2 / EDGE reads of shared memory for each.
//
// Rows and columns of a thread lie 16 apart, so that neighboring threads read neighboring words. With SPREAD 0 they
// lie side by side instead: the same sums, and bank conflicts.
// lockstep: block = 16, 16
// lockstep: grid = ceil_div(n, 16 * EDGE), ceil_div(m, 16 * EDGE)
#define EDGE 8
#define DEPTH 8
#define SPREAD 1
#define TILE (16 * EDGE)

// Place in the tile of element i of the thread that is number `at` of 16.
__device__ int place(int at, int i)
{
    return SPREAD ? at + 16 * i : at * EDGE + i;
}

extern "C" __global__ void matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                  int m, int n, int k)
{
    __shared__ float tile_a[TILE][DEPTH];
    __shared__ float tile_b[DEPTH][TILE];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int thread = 16 * y + x;
    const int first_row = blockIdx.y * TILE;
    const int first_column = blockIdx.x * TILE;

    float sum[EDGE][EDGE] = {};
    for (int start = 0; start < k; start += DEPTH) {
        for (int e = thread; e < TILE * DEPTH; e += 256) {
            const int row = first_row + e / DEPTH, i = start + e % DEPTH;
            tile_a[e / DEPTH][e % DEPTH] = row < m && i < k ? a[(size_t)row * k + i] : 0.0f;
        }
        for (int e = thread; e < DEPTH * TILE; e += 256) {
            const int i = start + e / TILE, column = first_column + e % TILE;
            tile_b[e / TILE][e % TILE] = i < k && column < n ? b[(size_t)i * n + column] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int d = 0; d < DEPTH; d++) {
            float from_a[EDGE], from_b[EDGE];
#pragma unroll
            for (int i = 0; i < EDGE; i++) {
                from_a[i] = tile_a[place(y, i)][d];
                from_b[i] = tile_b[d][place(x, i)];
            }
#pragma unroll
            for (int i = 0; i < EDGE; i++) {
#pragma unroll
                for (int j = 0; j < EDGE; j++) {
                    sum[i][j] += from_a[i] * from_b[j];
                }
            }
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < EDGE; i++) {
#pragma unroll
        for (int j = 0; j < EDGE; j++) {
            const int row = first_row + place(y, i), column = first_column + place(x, j);
            if (row < m && column < n) {
                c[(size_t)row * n + column] = sum[i][j];
            }
        }
    }
}

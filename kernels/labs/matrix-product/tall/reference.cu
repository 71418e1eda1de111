#include "lab.cuh"

// A thread makes 4 rows x 4 columns of a tile of 256 x 16: for each step along k it reads 4 floats of A and a float4 of B
// from shared memory, for 16 multiply-adds.
// lockstep: block = THREADS
// lockstep: grid = ceil_div(m, ROWS), ceil_div(n, COLUMNS)
#define THREADS 256
#define ROWS 256
#define COLUMNS 16
#define DEPTH 32

extern "C" __global__ void __launch_bounds__(THREADS)
    matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k)
{
    __shared__ float tile_a[ROWS][DEPTH + 1];
    __shared__ __align__(16) float tile_b[DEPTH][COLUMNS];
    const int thread = threadIdx.x;
    const int first_row = blockIdx.x * ROWS, first_column = blockIdx.y * COLUMNS;
    const int row = thread / 4, column = thread % 4 * 4;
    float sum[4][4] = {};

    for (int start = 0; start < k; start += DEPTH) {
#pragma unroll
        for (int part = 0; part < ROWS * DEPTH / THREADS; part++) {
            const int e = part * THREADS + thread;
            const int from = first_row + e / DEPTH, at = start + e % DEPTH;
            tile_a[e / DEPTH][e % DEPTH] = from < m && at < k ? a[(long long)from * k + at] : 0.0f;
        }
#pragma unroll
        for (int part = 0; part < DEPTH * COLUMNS / THREADS; part++) {
            const int e = part * THREADS + thread;
            const int from = start + e / COLUMNS, at = first_column + e % COLUMNS;
            tile_b[e / COLUMNS][e % COLUMNS] = from < k && at < n ? b[from * n + at] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int d = 0; d < DEPTH; d++) {
            const float4 four = *reinterpret_cast<const float4*>(&tile_b[d][column]);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const float from_a = tile_a[row + 64 * i][d];
                sum[i][0] += from_a * four.x;
                sum[i][1] += from_a * four.y;
                sum[i][2] += from_a * four.z;
                sum[i][3] += from_a * four.w;
            }
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int to = first_row + row + 64 * i;
        if (n % 4 == 0 && to < m && first_column + column < n) {
            float4* four = reinterpret_cast<float4*>(c + (long long)to * n + first_column + column);
            *four = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
            continue;
        }
#pragma unroll
        for (int j = 0; j < 4; j++) {
            if (to < m && first_column + column + j < n) {
                c[(long long)to * n + first_column + column + j] = sum[i][j];
            }
        }
    }
}

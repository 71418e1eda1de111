#include "lab.cuh"

// Step 6 of the ladder: four floats in each load and each store, from global and from shared memory. The multiply-adds
// are those of step 5; what shrinks is the number of instructions that load their operands.
//
// For that A's tile stands on its side: its columns are rows here, and the 4 + 4 rows of a thread are two float4. PAD
// floats more in each of these rows keep the scalar stores, which walk down a column, out of each other's banks.
// Rows are float4 only where 4 divides their length; for other sizes each element is loaded by itself.
// lockstep: block = 16, 16
// lockstep: grid = ceil_div(n, 128), ceil_div(m, 128)
#define TILE 128
#define DEPTH 8
#define PAD 4

__device__ float4 load4(const float* matrix, int row, int column, int rows, int columns)
{
    const float* from = matrix + (size_t)row * columns + column;
    if (columns % 4 == 0 && row < rows && column < columns) {
        return *reinterpret_cast<const float4*>(from);
    }
    const int inside = row < rows ? columns - column : 0;
    return make_float4(inside > 0 ? from[0] : 0.0f, inside > 1 ? from[1] : 0.0f, inside > 2 ? from[2] : 0.0f,
                       inside > 3 ? from[3] : 0.0f);
}

__device__ void store4(float* matrix, int row, int column, int rows, int columns, const float* values)
{
    float* to = matrix + (size_t)row * columns + column;
    if (columns % 4 == 0 && row < rows && column < columns) {
        *reinterpret_cast<float4*>(to) = make_float4(values[0], values[1], values[2], values[3]);
        return;
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        if (row < rows && column + i < columns) {
            to[i] = values[i];
        }
    }
}

__device__ void read4(const float* shared, float* values)
{
    const float4 four = *reinterpret_cast<const float4*>(shared);
    values[0] = four.x;
    values[1] = four.y;
    values[2] = four.z;
    values[3] = four.w;
}

extern "C" __global__ void matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                  int m, int n, int k)
{
    __shared__ __align__(16) float tile_a[DEPTH][TILE + PAD];
    __shared__ __align__(16) float tile_b[DEPTH][TILE];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int thread = 16 * y + x;
    const int first_row = blockIdx.y * TILE;
    const int first_column = blockIdx.x * TILE;

    float sum[8][8] = {};
    for (int start = 0; start < k; start += DEPTH) {
        const int a_row = thread / 2, a_column = thread % 2 * 4;
        const float4 four = load4(a, first_row + a_row, start + a_column, m, k);
        tile_a[a_column + 0][a_row] = four.x;
        tile_a[a_column + 1][a_row] = four.y;
        tile_a[a_column + 2][a_row] = four.z;
        tile_a[a_column + 3][a_row] = four.w;
        const int b_row = thread / 32, b_column = thread % 32 * 4;
        *reinterpret_cast<float4*>(&tile_b[b_row][b_column]) =
            load4(b, start + b_row, first_column + b_column, k, n);
        __syncthreads();
#pragma unroll
        for (int d = 0; d < DEPTH; d++) {
            // Rows 4y to 4y + 3, and those 64 further; columns likewise.
            float from_a[8], from_b[8];
            read4(&tile_a[d][4 * y], from_a);
            read4(&tile_a[d][4 * y + 64], from_a + 4);
            read4(&tile_b[d][4 * x], from_b);
            read4(&tile_b[d][4 * x + 64], from_b + 4);
#pragma unroll
            for (int i = 0; i < 8; i++) {
#pragma unroll
                for (int j = 0; j < 8; j++) {
                    sum[i][j] += from_a[i] * from_b[j];
                }
            }
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < 8; i++) {
        const int row = first_row + 4 * y + i / 4 * 64 + i % 4;
        store4(c, row, first_column + 4 * x, m, n, sum[i]);
        store4(c, row, first_column + 4 * x + 64, m, n, sum[i] + 4);
    }
}

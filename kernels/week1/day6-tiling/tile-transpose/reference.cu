#include "lab.cuh"

// Transpose by tiles as fast as it goes: what benchmarks compare with. solution.cu is the plain answer.
//
// A tile of 32 x 32 is loaded and written in whole 128-byte lines. 32 x 8 threads do it in four steps each: a thread has
// four loads on their way before it waits. Rows of 33 floats spread a column of the tile over all 32 banks.
// lockstep: block = TILE, ROWS
// lockstep: grid = ceil_div(columns, TILE), ceil_div(rows, TILE)
#define TILE 32
#define ROWS 8

extern "C" __global__ void transpose(const float* __restrict__ x, float* __restrict__ y, int rows, int columns)
{
    __shared__ float tile[TILE][TILE + 1];
    const int column = blockIdx.x * TILE + threadIdx.x;
    const int first_row = blockIdx.y * TILE + threadIdx.y;
#pragma unroll
    for (int step = 0; step < TILE; step += ROWS) {
        if (first_row + step < rows && column < columns) {
            tile[threadIdx.y + step][threadIdx.x] = x[(size_t)(first_row + step) * columns + column];
        }
    }
    __syncthreads();
    const int out_column = blockIdx.y * TILE + threadIdx.x;
    const int first_out_row = blockIdx.x * TILE + threadIdx.y;
#pragma unroll
    for (int step = 0; step < TILE; step += ROWS) {
        if (first_out_row + step < columns && out_column < rows) {
            y[(size_t)(first_out_row + step) * rows + out_column] = tile[threadIdx.x][threadIdx.y + step];
        }
    }
}

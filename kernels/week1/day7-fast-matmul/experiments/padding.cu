#include "lab.cuh"

// Day 6's transpose by tiles of 32 x 32, with PAD floats more in each row of the tile. Along a row neighboring lanes
// write neighboring words; then they read a column, words that lie 32 + PAD apart.
// lockstep: block = 32, 8
// lockstep: grid = ceil_div(columns, 32), ceil_div(rows, 32)
#define PAD 0

extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns)
{
    __shared__ float tile[32][32 + PAD];
    const int column = blockIdx.x * 32 + threadIdx.x;
    for (int step = threadIdx.y; step < 32; step += 8) {
        const int row = blockIdx.y * 32 + step;
        if (row < rows && column < columns) {
            tile[step][threadIdx.x] = x[row * columns + column];
        }
    }
    __syncthreads();
    const int out_column = blockIdx.y * 32 + threadIdx.x;
    for (int step = threadIdx.y; step < 32; step += 8) {
        const int out_row = blockIdx.x * 32 + step;
        if (out_row < columns && out_column < rows) {
            //@ column
            y[out_row * rows + out_column] = tile[threadIdx.x][step];
            //@ end
        }
    }
}

// A block of 32 x 32 with steps of 8.
// rejected for: race
// leads to: each thread have its own row
#include "lab.cuh"
// lockstep: block = 32, 32
// lockstep: grid = ceil_div(columns, 32), ceil_div(rows, 32)
extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns)
{
    __shared__ float tile[32][33];
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
            y[out_row * rows + out_column] = tile[threadIdx.x][step];
        }
    }
}

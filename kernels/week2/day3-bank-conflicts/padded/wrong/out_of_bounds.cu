#include "lab.cuh"

// y = x transposed, by tiles of 32 x 32. A block has 32 x 8 threads, so each thread moves four elements.
// lockstep: block = 32, 8
// lockstep: grid = ceil_div(columns, 32), ceil_div(rows, 32)

extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns)
{
    // 33 and 32 have no common factor: words below each other are in different banks.
    __shared__ float tile[32][33];

    const int column = blockIdx.x * 32 + threadIdx.x;
    for (int step = threadIdx.y; step < 32; step += 8) {
        const int row = blockIdx.y * 32 + step;
        if (row < rows && column < columns) {
            tile[step][threadIdx.x] = x[row * columns + column];
        }
    }
    __syncthreads();

    for (int step = threadIdx.y; step < 32; step += 8) {
        // The tile at (blockIdx.y, blockIdx.x) of x becomes the one at (blockIdx.x, blockIdx.y) of y, and is transposed.
        const int out_row = blockIdx.x * 32 + step, out_column = blockIdx.y * 32 + threadIdx.x;
        const float value = tile[threadIdx.x][step];

        if (out_row < rows && out_column < columns) {
            y[out_row * rows + out_column] = value;
        }
    }
}

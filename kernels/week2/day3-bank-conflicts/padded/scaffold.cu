#include "lab.cuh"

// y = x transposed, by tiles of 32 x 32. A block has 32 x 8 threads, so each thread moves four elements.
// lockstep: block = 32, 8
// lockstep: grid = ceil_div(columns, 32), ceil_div(rows, 32)

extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns)
{
    // TODO 1: how long is a row of the tile, so that neither its rows nor its columns conflict?
    __shared__ float tile[32][32];

    const int column = blockIdx.x * 32 + threadIdx.x;
    for (int step = threadIdx.y; step < 32; step += 8) {
        const int row = blockIdx.y * 32 + step;
        if (row < rows && column < columns) {
            tile[step][threadIdx.x] = x[row * columns + column];
        }
    }
    __syncthreads();

    for (int step = threadIdx.y; step < 32; step += 8) {
        // TODO 2: which element of y does this thread store in this step, so that neighboring lanes store neighbors?
        // And where in the tile is it? With out_row = columns nothing is stored.
        const int out_row = columns, out_column = 0;
        const float value = tile[step][threadIdx.x];

        if (out_row < columns && out_column < rows) {
            y[out_row * rows + out_column] = value;
        }
    }
}

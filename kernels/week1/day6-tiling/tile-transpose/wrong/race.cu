#include "lab.cuh"

// No barrier between loading the tile and reading it the other way round.
// lockstep: block = TILE, TILE
#define TILE 16

extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns)
{
    __shared__ float tile[TILE][TILE];

    const int row = blockIdx.y * TILE + threadIdx.y;
    const int column = blockIdx.x * TILE + threadIdx.x;
    if (row < rows && column < columns) {
        tile[threadIdx.y][threadIdx.x] = x[row * columns + column];
    }

    // The tile at (block row, block column) of x becomes the tile at (block column, block row) of y.
    const int out_row = blockIdx.x * TILE + threadIdx.y;
    const int out_column = blockIdx.y * TILE + threadIdx.x;
    if (out_row < columns && out_column < rows) {
        y[out_row * rows + out_column] = tile[threadIdx.x][threadIdx.y];
    }
}

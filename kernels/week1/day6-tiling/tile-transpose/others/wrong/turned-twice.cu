// Turns while loading and while writing.
// rejected for: transposed_output
// leads to: rows and columns are exchanged
#include "lab.cuh"

// lockstep: block = TILE, TILE
#define TILE 16

extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns)
{
    __shared__ float tile[TILE][TILE];

    const int row = blockIdx.y * TILE + threadIdx.y;
    const int column = blockIdx.x * TILE + threadIdx.x;
    if (row < rows && column < columns) {
        tile[threadIdx.x][threadIdx.y] = x[row * columns + column];
    }
    __syncthreads();

    // The tile at (block row, block column) of x becomes the tile at (block column, block row) of y.
    const int out_row = blockIdx.x * TILE + threadIdx.y;
    const int out_column = blockIdx.y * TILE + threadIdx.x;
    if (out_row < columns && out_column < rows) {
        y[out_row * rows + out_column] = tile[threadIdx.x][threadIdx.y];
    }
}

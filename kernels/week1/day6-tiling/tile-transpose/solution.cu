#include "lab.cuh"

// y = x transposed: y[c][r] = x[r][c]. x has rows x columns elements, y has columns x rows, both row-major.
//
// A block loads a tile into shared memory along the rows of x and writes it along the rows of y. Neither global access
// walks down a column; that happens in shared memory, where it costs much less.
// lockstep: block = TILE, TILE
#define TILE 16

extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns)
{
    __shared__ float tile[TILE][TILE];

    //@ in
    const int row = blockIdx.y * TILE + threadIdx.y;
    const int column = blockIdx.x * TILE + threadIdx.x;
    if (row < rows && column < columns) {
        tile[threadIdx.y][threadIdx.x] = x[row * columns + column];
    }
    //@ end
    __syncthreads();

    //@ out
    // The tile at (block row, block column) of x becomes the tile at (block column, block row) of y.
    const int out_row = blockIdx.x * TILE + threadIdx.y;
    const int out_column = blockIdx.y * TILE + threadIdx.x;
    if (out_row < columns && out_column < rows) {
        y[out_row * rows + out_column] = tile[threadIdx.x][threadIdx.y];
    }
    //@ end
}

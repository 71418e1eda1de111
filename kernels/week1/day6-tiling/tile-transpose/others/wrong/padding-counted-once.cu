// Indexes a padded tile by hand, and makes room for one float of padding in all.
// rejected for: out_of_bounds
// leads to: of the tile
#include "lab.cuh"
// lockstep: block = TILE, TILE
#define TILE 16
extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns)
{
    __shared__ float tile[TILE * TILE + 1];
    int r = blockIdx.y * TILE + threadIdx.y, c = blockIdx.x * TILE + threadIdx.x;
    if (r < rows && c < columns) tile[threadIdx.y * (TILE + 1) + threadIdx.x] = x[r * columns + c];
    __syncthreads();
    r = blockIdx.x * TILE + threadIdx.y; c = blockIdx.y * TILE + threadIdx.x;
    if (r < columns && c < rows) y[r * rows + c] = tile[threadIdx.x * (TILE + 1) + threadIdx.y];
}

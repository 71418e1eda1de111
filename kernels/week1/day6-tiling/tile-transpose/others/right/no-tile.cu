// With no tile at all.
// does not reach: Whole sectors both ways
// does not reach: Without a conflict
#include "lab.cuh"
// lockstep: block = TILE, TILE
#define TILE 16
extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns)
{
    const int r = blockIdx.y * TILE + threadIdx.y, c = blockIdx.x * TILE + threadIdx.x;
    if (r < rows && c < columns) y[c * rows + r] = x[r * columns + c];
}

// No tile at all.
// does not reach: Whole sectors both ways
#include "lab.cuh"
// lockstep: block = 32, 8
// lockstep: grid = ceil_div(columns, 32), ceil_div(rows, 8)
extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < columns) y[c * rows + r] = x[r * columns + c];
}

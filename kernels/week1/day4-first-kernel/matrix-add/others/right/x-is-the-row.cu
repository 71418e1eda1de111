// x is the row, with a grid that says so.
// does not reach: Row by row
#include "lab.cuh"
// lockstep: block = 8, 32
// lockstep: grid = ceil_div(rows, 8), ceil_div(columns, 32)
extern "C" __global__ void matrix_add(const float* a, const float* b, float* c, int rows, int columns)
{
    int r = blockIdx.x * 8 + threadIdx.x, k = blockIdx.y * 32 + threadIdx.y;
    if (r < rows && k < columns) c[r * columns + k] = a[r * columns + k] + b[r * columns + k];
}

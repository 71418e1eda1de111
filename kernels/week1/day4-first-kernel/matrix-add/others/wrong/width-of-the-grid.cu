// Takes the width of the grid for the width of the matrix.
// rejected for: out_of_bounds
// leads to: the step from one row to the next is `columns`
#include "lab.cuh"

extern "C" __global__ void matrix_add(const float* a, const float* b, float* c, int rows, int columns)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = row * (gridDim.x * blockDim.x) + column;
    if (row < rows && column < columns)
        c[i] = a[i] + b[i];
}

// Writes by columns what it reads by rows.
// rejected for: transposed_output
// leads to: r * columns + c
#include "lab.cuh"

extern "C" __global__ void matrix_add(const float* a, const float* b, float* c, int rows, int columns)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && column < columns) {
        c[column * rows + row] = a[row * columns + column] + b[row * columns + column];
    }
}

// Takes the row from x.
// rejected for: never_written
// leads to: `column` comes from x
#include "lab.cuh"

extern "C" __global__ void matrix_add(const float* a, const float* b, float* c, int rows, int columns)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const int column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) {
        const int i = row * columns + column;
        c[i] = a[i] + b[i];
    }
}

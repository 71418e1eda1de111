// Multiplies by the size of the block in the other direction.
// rejected for: never_written
// leads to: direction
#include "lab.cuh"

extern "C" __global__ void matrix_add(const float* a, const float* b, float* c, int rows, int columns)
{
    const int row = blockIdx.y * blockDim.x + threadIdx.y;
    const int column = blockIdx.x * blockDim.y + threadIdx.x;
    if (row < rows && column < columns) {
        const int i = row * columns + column;
        c[i] = a[i] + b[i];
    }
}

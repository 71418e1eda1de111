// Takes the element of b by its column alone.
// rejected for: wrong_output
// leads to: always of row 0
#include "lab.cuh"
extern "C" __global__ void matrix_add(const float* a, const float* b, float* c, int rows, int columns)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && column < columns) {
        const int i = row * columns + column;
        c[i] = a[i] + b[column];
    }
}

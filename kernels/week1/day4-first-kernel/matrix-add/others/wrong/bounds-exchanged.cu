// Compares each coordinate with the other bound.
// rejected for: out_of_bounds
// leads to: Compare both
#include "lab.cuh"

extern "C" __global__ void matrix_add(const float* a, const float* b, float* c, int rows, int columns)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < columns && column < rows) {
        const int i = row * columns + column;
        c[i] = a[i] + b[i];
    }
}

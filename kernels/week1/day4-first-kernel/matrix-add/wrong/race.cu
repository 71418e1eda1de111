#include "lab.cuh"

// Guards only the end of memory, and makes the sum in two steps. A thread past the right edge does both steps to an
// element of the next row, in the middle of its owner's work.
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

#include "lab.cuh"

// Matrix addition: c[row][column] = a[row][column] + b[row][column].
//
// The matrices lie in memory row by row. x is the column, so that the 32 threads of a warp, neighbors in x, touch
// neighboring memory.
extern "C" __global__ void matrix_add(const float* a, const float* b, float* c, int rows, int columns)
{
    //@ coordinates
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    //@ end

    //@ add
    if (row < rows && column < columns) {
        const int i = row * columns + column;
        c[i] = a[i] + b[i];
    }
    //@ end
}

// Loops over the columns in every thread of a row.
// rejected for: race
// leads to: one thread's
#include "lab.cuh"
extern "C" __global__ void matrix_add(const float* a, const float* b, float* c, int rows, int columns)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    for (int column = 0; column < columns; column++) { if (row >= rows) return;
        const int i = row * columns + column;
        c[i] = a[i] + b[i];
    }
}

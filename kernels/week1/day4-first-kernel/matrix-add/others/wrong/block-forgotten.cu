// Forgets the blocks in x.
// rejected for: race
// leads to: depend on the block
#include "lab.cuh"

extern "C" __global__ void matrix_add(const float* a, const float* b, float* c, int rows, int columns)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = threadIdx.x;
    if (row < rows && column < columns) {
        const int i = row * columns + column;
        c[i] = a[i];
        c[i] += b[i];
    }
}

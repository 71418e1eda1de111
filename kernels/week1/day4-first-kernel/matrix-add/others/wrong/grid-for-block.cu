// Multiplies by the number of blocks where the size of a block belongs.
// rejected for: race
// leads to: with no barrier
#include "lab.cuh"
extern "C" __global__ void matrix_add(const float* a, const float* b, float* c, int rows, int columns)
{
    const int row = blockIdx.y * gridDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && column < columns) {
        const int i = row * columns + column;
        c[i] = a[i] + b[i];
    }
}

// Straight from x to y.
// does not reach: Whole sectors both ways
#include "lab.cuh"
extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns)
{
    for (int r = threadIdx.y; r < 96; r += 16)
        for (int c = threadIdx.x; c < 128; c += 32) {
            const int row = blockIdx.y * 96 + r, column = blockIdx.x * 128 + c;
            if (row < rows && column < columns) y[column * rows + row] = x[row * columns + column];
        }
}

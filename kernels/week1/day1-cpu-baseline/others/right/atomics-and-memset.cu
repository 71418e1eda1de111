// Bytes set to zero, then every product added by an atomic.
// does not reach: Four sums at a time
// does not reach: Sixty-four at a time
#include "lab.cuh"

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    memset(c, 0, sizeof(float) * rows * columns);
    for (int k = 0; k < inner; k++)
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < columns; j++)
                atomicAdd(c + i * columns + j, a[i * inner + k] * b[k * columns + j]);
}

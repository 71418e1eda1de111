// Without a tile: right, and each load of a column touches 32 rows.
// does not reach: Whole sectors both ways
#include "lab.cuh"

extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns)
{
    const int row0 = blockIdx.y * 32, column0 = blockIdx.x * 32;
    const int r = threadIdx.y, c = 4 * threadIdx.x;
    for (int i = 0; i < 4; i++) {
        y[(column0 + r) * rows + row0 + c + i] = x[(row0 + c + i) * columns + column0 + r];
    }
}

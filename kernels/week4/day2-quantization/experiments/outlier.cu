#include "lab.cuh"

// y = x, there and back through int8. Two of 64 columns are 60 times as large as the others.
// SHARE: 0 one scale for the whole matrix, 1 one for each row, 2 one for each column.
#define SHARE 0

extern "C" __global__ void there_and_back(const float* x, float* y, int rows, int columns)
{
    const int column = threadIdx.x, row = blockIdx.x;
    float amax = 0.0f;
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < columns; c++) {
            if (SHARE == 0 || (SHARE == 1 && r == row) || (SHARE == 2 && c == column)) {
                amax = fmaxf(amax, fabsf(x[r * columns + c]));
            }
        }
    }
    //@ back
    const float scale = amax / 127.0f;
    const float code = rintf(x[row * columns + column] / scale);
    y[row * columns + column] = code * scale;
    //@ end
}

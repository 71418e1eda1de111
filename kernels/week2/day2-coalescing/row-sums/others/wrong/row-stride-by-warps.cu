// Goes on by threads where the grid has warps.
// rejected for: never_written
// leads to: WARPS rows
#include "lab.cuh"
// lockstep: block = 256
// lockstep: grid = 4
extern "C" __global__ void row_sums(const float *x, float *y, int rows, int columns)
{
    const int lane = threadIdx.x % 32;
    for (int row = blockIdx.x * 8 + threadIdx.x / 32; row < rows; row += 256) {
        float s = 0;
        for (int c = lane; c < columns; c += 32) s += x[row * columns + c];
        for (int d = 16; d; d /= 2) s += __shfl_down_sync(FULL_MASK, s, d);
        if (lane == 0) y[row] = s;
    }
}

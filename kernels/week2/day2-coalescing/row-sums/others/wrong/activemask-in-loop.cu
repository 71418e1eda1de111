// Shuffles in the loop, among whoever is there.
// rejected for: mask_misuse
// leads to: outside of the loop
#include "lab.cuh"
// lockstep: block = 256
// lockstep: grid = ceil_div(rows, 8)
extern "C" __global__ void row_sums(const float *x, float *y, int rows, int columns)
{
    const int lane = threadIdx.x % 32, row = blockIdx.x * 8 + threadIdx.x / 32;
    if (row >= rows) return;
    float s = 0;
    for (int c = lane; c < columns; c += 32) {
        float v = x[row * columns + c];
        for (int d = 16; d; d /= 2) v += __shfl_down_sync(__activemask(), v, d);
        s += v;
    }
    if (lane == 0) y[row] = s;
}

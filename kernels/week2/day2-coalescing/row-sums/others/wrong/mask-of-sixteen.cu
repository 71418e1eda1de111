// Names half of the lanes in the mask.
// rejected for: mask_misuse
// leads to: shuffle
#include "lab.cuh"
// lockstep: block = 32 * WARPS
// lockstep: grid = ceil_div(rows, WARPS)
#define WARPS 8
extern "C" __global__ void row_sums(const float* x, float* y, int rows, int columns)
{
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= rows) {
        return;
    }
    float sum = 0.0f;
    for (int column = lane; column < columns; column += 32) {
        sum += x[(long long)row * columns + column];
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffff, sum, distance);
    }
    if (lane == 0) {
        y[row] = sum;
    }
}

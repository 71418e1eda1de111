// Takes the thread's number for the row.
// rejected for: mask_misuse
// leads to: same row
#include "lab.cuh"
// lockstep: block = 32 * WARPS
// lockstep: grid = ceil_div(rows, 32 * WARPS)
#define WARPS 8
extern "C" __global__ void row_sums(const float* x, float* y, int rows, int columns)
{
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) {
        return;
    }
    float sum = 0.0f;
    for (int column = lane; column < columns; column += 32) {
        sum += x[(long long)row * columns + column];
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(FULL_MASK, sum, distance);
    }
    if (lane == 0) {
        y[row] = sum;
    }
}

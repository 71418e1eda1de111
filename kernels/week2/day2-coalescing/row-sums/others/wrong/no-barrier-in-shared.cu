// Combines through shared memory with no barrier.
// rejected for: race
// leads to: __syncwarp()
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
    __shared__ float part[256];
    part[threadIdx.x] = sum;
    if (lane == 0) {
        for (int l = 1; l < 32; l++) sum += part[threadIdx.x + l];
    }
    if (lane == 0) {
        y[row] = sum;
    }
}

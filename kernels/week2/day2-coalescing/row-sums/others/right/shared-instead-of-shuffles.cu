// Combines the lanes in shared memory, one lane adding up all 32.
// does not reach: Nine tenths of a copy
#include "lab.cuh"
// lockstep: block = 32 * WARPS
// lockstep: grid = ceil_div(rows, WARPS)
#define WARPS 8
extern "C" __global__ void row_sums(const float* x, float* y, int rows, int columns)
{
    __shared__ float part[WARPS][32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int row = blockIdx.x * WARPS + warp;
    float sum = 0.0f;
    for (int c = lane; row < rows && c < columns; c += 32) sum += x[(long long)row * columns + c];
    part[warp][lane] = sum;
    __syncthreads();
    if (lane == 0 && row < rows) {
        float all = 0.0f;
        for (int l = 0; l < 32; l++) all += part[warp][l];
        y[row] = all;
    }
}

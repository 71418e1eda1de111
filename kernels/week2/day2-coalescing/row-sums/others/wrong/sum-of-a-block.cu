// Adds up the warps of a block as if they shared a row.
// rejected for: wrong_output
// leads to: row
#include "lab.cuh"
// lockstep: block = 32 * WARPS
// lockstep: grid = ceil_div(rows, WARPS)
#define WARPS 8
extern "C" __global__ void row_sums(const float* x, float* y, int rows, int columns)
{
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * WARPS + threadIdx.x / 32;

    float sum = 0.0f;
    if (row < rows)
    for (int column = lane; column < columns; column += 32) {
        sum += x[(long long)row * columns + column];
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(FULL_MASK, sum, distance);
    }
    __shared__ float all;
    if (threadIdx.x == 0) all = 0.0f;
    __syncthreads();
    if (lane == 0) atomicAdd(&all, sum);
    __syncthreads();
    sum = all;
    if (lane == 0 && row < rows) {
        y[row] = sum;
    }
}

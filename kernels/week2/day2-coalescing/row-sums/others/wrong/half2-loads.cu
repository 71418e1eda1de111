// Rounds each number to half.
// rejected for: precision
// leads to: rounded on the way
#include <cuda_fp16.h>
#include "lab.cuh"
// lockstep: block = 256
// lockstep: grid = ceil_div(rows, 8)
extern "C" __global__ void row_sums(const float *x, float *y, int rows, int columns)
{
    const int lane = threadIdx.x % 32, row = blockIdx.x * 8 + threadIdx.x / 32;
    if (row >= rows) return;
    float s = 0;
    for (int c = lane; c < columns; c += 32) s += __half2float(__float2half(x[row * columns + c]));
    for (int d = 16; d; d /= 2) s += __shfl_down_sync(FULL_MASK, s, d);
    if (lane == 0) y[row] = s;
}

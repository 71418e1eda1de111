// A block a row, and the sum of the first warp only.
// rejected for: wrong_output
// leads to: of the other warps
#include "lab.cuh"
// lockstep: block = 256
// lockstep: grid = rows
extern "C" __global__ void row_sums(const float *x, float *y, int rows, int columns)
{
    float s = 0;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) s += x[blockIdx.x * columns + c];
    for (int d = 16; d; d /= 2) s += __shfl_down_sync(FULL_MASK, s, d);
    if (threadIdx.x == 0) y[blockIdx.x] = s;
}

#include "lab.cuh"

// y[row] = sum of a row of x, which has `columns` floats. One warp adds up one row; a block has WARPS warps.
// lockstep: block = 32 * WARPS
// lockstep: grid = ceil_div(rows, WARPS)
#define WARPS 8

extern "C" __global__ void row_sums(const float* x, float* y, int rows, int columns)
{
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= rows) {
        return;  // the whole warp leaves
    }
    float sum = 0.0f;

    // TODO 1: add up this lane's share of the row. In each round, neighboring lanes read neighboring floats.

    // TODO 2: combine the sums of the 32 lanes, so that lane 0 has the sum of the row.

    if (lane == 0) {
        y[row] = sum;
    }
}

#include "lab.cuh"

// column[row] = the first column of the row whose value is NaN or an infinity, found[row] = 1. A row without one has 0 in both.
// One warp does one row.
// lockstep: first_bad.block = 256
// lockstep: first_bad.grid = ceil_div(rows, 8)
extern "C" __global__ void first_bad(const float* x, int* column, int* found, int rows, int columns)
{
    const int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) {
        return;
    }
    const float* from = x + (long long)row * columns;
    int where = 0, any = 0;
    for (int first = 0; first < columns; first += 32) {
        const int i = first + lane;
        // TODO: ask all 32 lanes, and leave the loop at the first find. So far lane 0 stores only what it has seen itself.
        if (i < columns && !isfinite(from[i])) {
            where = i;
            any = 1;
        }
    }
    if (lane == 0) {
        column[row] = where;
        found[row] = any;
    }
}

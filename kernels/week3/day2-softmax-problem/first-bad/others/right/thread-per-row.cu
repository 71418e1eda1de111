// One thread a row: neighbors are a row apart.
// does not reach: Whole sectors
#include "lab.cuh"
// lockstep: first_bad.block = 64
// lockstep: first_bad.grid = ceil_div(rows, 64)
extern "C" __global__ void first_bad(const float* x, int* column, int* found, int rows, int columns)
{
    int r = blockIdx.x * 64 + threadIdx.x;
    if (r >= rows) return;
    int i = 0;
    while (i < columns && isfinite(x[r * columns + i])) i++;
    found[r] = i < columns;
    column[r] = i < columns ? i : 0;
}

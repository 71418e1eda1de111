// One thread a row.
// does not reach: Whole sectors
// does not reach: Two reads
// does not reach: One read
#include "lab.cuh"
// lockstep: block = 64
// lockstep: grid = ceil_div(rows, 64)
extern "C" __global__ void softmax_rows(const float* x, float* y, float* lse, int rows, int columns)
{
    int r = blockIdx.x * 64 + threadIdx.x;
    if (r >= rows) return;
    const float* p = x + (size_t)r * columns;
    float m = p[0], s = 0;
    for (int i = 1; i < columns; ++i) m = max(m, p[i]);
    for (int i = 0; i < columns; ++i) s += __expf(p[i] - m);
    for (int i = 0; i < columns; ++i) y[(size_t)r * columns + i] = __expf(p[i] - m) / s;
    lse[r] = m + __logf(s);
}

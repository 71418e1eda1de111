// One warp a row, any length.
// does not reach: Two reads
// does not reach: One read
#include "lab.cuh"
// lockstep: block = 32, 4
// lockstep: grid = ceil_div(rows, 4)
extern "C" __global__ void softmax_rows(const float* x, float* y, float* lse, int rows, int columns)
{
    const int row = blockIdx.x * 4 + threadIdx.y, lane = threadIdx.x;
    if (row >= rows) return;
    const float* from = x + (size_t)row * columns;
    float m = -FLT_MAX, s = 0.f;
    for (int i = lane; i < columns; i += 32) m = fmaxf(m, from[i]);
    for (int d = 1; d < 32; d *= 2) m = fmaxf(m, __shfl_xor_sync(FULL_MASK, m, d));
    for (int i = lane; i < columns; i += 32) s += expf(from[i] - m);
    for (int d = 1; d < 32; d *= 2) s += __shfl_xor_sync(FULL_MASK, s, d);
    for (int i = lane; i < columns; i += 32) y[(size_t)row * columns + i] = expf(from[i] - m) / s;
    if (lane == 0) lse[row] = m + logf(s);
}

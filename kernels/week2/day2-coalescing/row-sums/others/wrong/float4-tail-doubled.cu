// Takes float4s, and then the tail of larger pieces once more.
// rejected for: doubled
// leads to: Do two lanes read the same column?
#include "lab.cuh"
// lockstep: block = 256
// lockstep: grid = ceil_div(rows, 8)
extern "C" __global__ void row_sums(const float *x, float *y, int rows, int columns)
{
    const int lane = threadIdx.x % 32, row = blockIdx.x * 8 + threadIdx.x / 32;
    if (row >= rows) return;
    const float *p = x + row * columns;
    float s = 0;
    if (columns % 4 == 0)
        for (int c = lane; c < columns / 4; c += 32) {
            float4 v = ((const float4 *)p)[c];
            s += v.x + v.y + v.z + v.w;
        }
    for (int c = columns / 128 * 128 + lane; c < columns; c += 32) s += p[c];
    for (int d = 16; d; d /= 2) s += __shfl_down_sync(FULL_MASK, s, d);
    if (lane == 0) y[row] = s;
}

// A warp a row; pairs of maximum and sum are merged, also in the shuffles.
// does not reach: One read
#include "lab.cuh"
// lockstep: block = 32, 8
// lockstep: grid = ceil_div(rows, 8)
struct State { float m, s; };
__device__ State merge(State a, State b)
{
    if (a.m < b.m) { State t = a; a = b; b = t; }
    a.s += b.s == 0.0f ? 0.0f : b.s * expf(b.m - a.m);
    return a;
}
extern "C" __global__ void softmax_rows(const float* x, float* y, float* lse, int rows, int columns)
{
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    const float* from = x + (size_t)row * columns;
    State me = {-INFINITY, 0.0f};
    for (int i = threadIdx.x; i < columns; i += 32) me = merge(me, State{from[i], 1.0f});
    for (int o = 16; o; o /= 2) me = merge(me, State{__shfl_xor_sync(FULL_MASK, me.m, o), __shfl_xor_sync(FULL_MASK, me.s, o)});
    for (int i = threadIdx.x; i < columns; i += 32) y[(size_t)row * columns + i] = expf(from[i] - me.m) / me.s;
    if (threadIdx.x == 0) lse[row] = me.m + logf(me.s);
}

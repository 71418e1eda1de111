// A warp for each element, 32 products at a time.
// does not reach: Tiles
#include "lab.cuh"
// lockstep: linear.block = 32, 8
// lockstep: linear.grid = n, ceil_div(m, 8)
__device__ float leaky(float v) { return v < 0 ? v / 4 : v; }
extern "C" __global__ void linear(const float* x, const float* w, const float* bias, float* y, int m, int n, int k)
{
    const int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x;
    if (row >= m) return;
    float s = 0;
    for (int d = threadIdx.x; d < k; d += 32) s = fmaf(x[row * k + d], w[d * n + col], s);
    for (int o = 16; o > 0; o >>= 1) s += __shfl_xor_sync(FULL_MASK, s, o);
    if (threadIdx.x == 0) y[row * n + col] = leaky(s + bias[col]);
}

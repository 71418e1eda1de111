// A warp for each element, with a reduction by shuffles.
// does not reach: Neighbors read neighbors
#include "lab.cuh"
// lockstep: block = 32, 4
// lockstep: grid = n, ceil_div(m, 4)
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    const int column = blockIdx.x, row = blockIdx.y * 4 + threadIdx.y;
    if (row >= m) return;
    float s = 0;
    for (int i = threadIdx.x; i < k; i += 32) s += a[row * k + i] * b[i * n + column];
    for (int d = 16; d; d >>= 1) s += __shfl_down_sync(FULL_MASK, s, d);
    if (threadIdx.x == 0) c[row * n + column] = s;
}

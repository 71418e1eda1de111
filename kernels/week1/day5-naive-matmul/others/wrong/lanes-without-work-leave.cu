// A warp for each element; lanes with nothing to add leave before the shuffles.
// rejected for: mask_misuse
// leads to: has ended
#include "lab.cuh"
// lockstep: block = 32, 4
// lockstep: grid = n, ceil_div(m, block_y)
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x;
    if (row >= m || threadIdx.x >= k) return;
    float s = 0;
    for (int i = threadIdx.x; i < k; i += 32) s = fmaf(a[row * k + i], b[i * n + col], s);
    for (int d = 16; d; d >>= 1) s += __shfl_down_sync(0xffffffffu, s, d);
    if (threadIdx.x == 0) c[row * n + col] = s;
}

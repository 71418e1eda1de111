// Shares only rows of A, each within a warp.
// does not reach: Reuse by 16
// does not reach: Reuse by 32
#include "lab.cuh"
// lockstep: block = 32, 8
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float s[8][32];
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 8 + y, column = blockIdx.x * 32 + x;
    float sum = 0;
    for (int p = 0; p < k; p += 32) {
        s[y][x] = (row < m && p + x < k) ? a[row * k + p + x] : 0;
        __syncwarp();
        const int count = min(32, k - p);
        if (column < n) for (int i = 0; i < count; ++i) sum += s[y][i] * b[(p + i) * n + column];
        __syncwarp();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

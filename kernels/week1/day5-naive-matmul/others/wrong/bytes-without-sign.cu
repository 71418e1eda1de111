// Keeps row and column in bytes without a sign.
// rejected for: narrow_index
// leads to: 8 bits
#include "lab.cuh"

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    const unsigned char r = threadIdx.y + blockIdx.y * blockDim.y, s = threadIdx.x + blockIdx.x * blockDim.x;
    if (r >= m || s >= n) {
        return;
    }
    float total = 0.0f;
    for (int p = 0; p < k; p++) {
        total = fmaf(a[r * k + p], b[p * n + s], total);
    }
    c[r * n + s] = total;
}

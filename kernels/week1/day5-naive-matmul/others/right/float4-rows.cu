// Reads A in float4 where rows allow it, with four sums that are added at the end.
#include "lab.cuh"

extern "C" __global__ void matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                  int m, int n, int k)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < m) {
        float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        int i = 0;
        if (k % 4 == 0) {
            for (; i < k; i += 4) {
                float4 v = *reinterpret_cast<const float4*>(a + y * k + i);
                s0 += v.x * b[(i + 0) * n + x];
                s1 += v.y * b[(i + 1) * n + x];
                s2 += v.z * b[(i + 2) * n + x];
                s3 += v.w * b[(i + 3) * n + x];
            }
        }
        for (; i < k; i++) {
            s0 += a[y * k + i] * b[i * n + x];
        }
        c[y * n + x] = (s0 + s1) + (s2 + s3);
    }
}

// Blocks of 8 x 32 threads, 2 x 8 sums each, B in float4 where rows allow it.
#include "lab.cuh"
// lockstep: block = 8, 32
// lockstep: grid = ceil_div(n, 64), ceil_div(m, 64)
extern "C" __global__ void __launch_bounds__(256, 2) matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k)
{
    __shared__ float sa[8][64 + 4];
    __shared__ __align__(16) float sb[8][64];
    const int t = threadIdx.y * 8 + threadIdx.x;
    const int r0 = 64 * blockIdx.y, c0 = 64 * blockIdx.x;
    const bool wide = n % 4 == 0;
    float s[2][8];
    for (auto& row : s) for (float& v : row) v = 0;
    for (int p = 0; p < k; p += 8) {
        for (int e = t; e < 512; e += 256) { int i = e >> 3, d = e & 7; sa[d][i] = (r0 + i < m && p + d < k) ? a[(r0 + i) * k + p + d] : 0.f; }
        if (t < 128) {
            int d = t >> 4, j = (t & 15) * 4;
            float4 v = {0, 0, 0, 0};
            if (p + d < k) {
                const float* from = b + (p + d) * n + c0 + j;
                if (wide && c0 + j + 3 < n) v = *(const float4*)from;
                else { if (c0 + j < n) v.x = from[0]; if (c0 + j + 1 < n) v.y = from[1]; if (c0 + j + 2 < n) v.z = from[2]; if (c0 + j + 3 < n) v.w = from[3]; }
            }
            *(float4*)&sb[d][j] = v;
        }
        __syncthreads();
#pragma unroll
        for (int d = 0; d < 8; d++)
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 8; j++) s[i][j] += sa[d][threadIdx.y * 2 + i] * sb[d][threadIdx.x + 8 * j];
        __syncthreads();
    }
    for (int i = 0; i < 2; i++) { int row = r0 + threadIdx.y * 2 + i; if (row < m) for (int j = 0; j < 8; j++) { int col = c0 + threadIdx.x + 8 * j; if (col < n) c[row * n + col] = s[i][j]; } }
}

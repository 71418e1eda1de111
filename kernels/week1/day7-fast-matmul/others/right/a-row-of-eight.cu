// Each thread makes eight neighbors of a row, and reads A by itself.
#include "lab.cuh"
// lockstep: block = 64
// lockstep: grid = ceil_div(n, 8), ceil_div(m, 64)
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float B[16][8];
    const int row = blockIdx.y * 64 + threadIdx.x, first = blockIdx.x * 8;
    float s[8] = {};
    for (int p = 0; p < k; p += 16) {
        for (int e = threadIdx.x; e < 128; e += 64) {
            int r = p + e / 8, q = first + e % 8;
            B[e / 8][e % 8] = r < k && q < n ? b[r * n + q] : 0;
        }
        __syncthreads();
        if (row < m) for (int d = 0; d < 16 && p + d < k; ++d) { const float v = a[row * k + p + d]; for (int j = 0; j < 8; ++j) s[j] += v * B[d][j]; }
        __syncthreads();
    }
    if (row < m) for (int j = 0; j < 8 && first + j < n; ++j) c[row * n + first + j] = s[j];
}

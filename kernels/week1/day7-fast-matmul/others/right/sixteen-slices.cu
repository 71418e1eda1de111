// Sixteen slices of the sum, added up with atomics in shared memory.
#include "lab.cuh"
// lockstep: block = 16, 16
// lockstep: grid = ceil_div(n, 16), ceil_div(m, 16)
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float part[4][16][16];
    const int x = threadIdx.x % 4, y = threadIdx.y % 4, slice = threadIdx.y / 4 * 4 + threadIdx.x / 4;
    for (int e = threadIdx.y * 16 + threadIdx.x; e < 256; e += 256) part[0][e / 16][e % 16] = 0;
    __syncthreads();
    float s[4][4] = {};
    for (int p = slice; p < k; p += 16)
        for (int i = 0; i < 4; ++i) for (int j = 0; j < 4; ++j) {
            const int r = blockIdx.y * 16 + 4 * y + i, q = blockIdx.x * 16 + 4 * x + j;
            if (r < m && q < n) s[i][j] += a[r * k + p] * b[p * n + q];
        }
    for (int i = 0; i < 4; ++i) for (int j = 0; j < 4; ++j) atomicAdd(&part[0][4 * y + i][4 * x + j], s[i][j]);
    __syncthreads();
    const int r = blockIdx.y * 16 + threadIdx.y, q = blockIdx.x * 16 + threadIdx.x;
    if (r < m && q < n) c[r * n + q] = part[0][threadIdx.y][threadIdx.x];
}

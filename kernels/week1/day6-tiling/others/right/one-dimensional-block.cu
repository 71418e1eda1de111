// A block in one direction whose threads divide their numbers; pointers move along instead of indices.
#include "lab.cuh"

constexpr int T = 8;
// lockstep: block = 64
// lockstep: grid = ceil_div(n, 8), ceil_div(m, 8)
extern "C" __global__ void matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                  int m, int n, int k)
{
    __shared__ float As[T * T];
    __shared__ float Bs[T * T];
    const int tx = threadIdx.x % T, ty = threadIdx.x / T;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    const float* pa = a + row * k;
    const float* pb = b + col;
    float acc = 0;
    for (int t = 0; t < ceil_div(k, T); ++t) {
        const int ka = t * T + tx, kb = t * T + ty;
        As[ty * T + tx] = (row < m && ka < k) ? __ldg(pa + ka) : 0;
        Bs[ty * T + tx] = (col < n && kb < k) ? __ldg(pb + kb * n) : 0;
        __syncthreads();
        for (int i = 0; i < T; ++i) acc = fmaf(As[ty * T + i], Bs[i * T + tx], acc);
        __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = acc;
}

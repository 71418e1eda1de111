// No guard for columns at the store.
// rejected for: out_of_bounds
// leads to: past its end
#include "lab.cuh"
// lockstep: block = 16, 16
// lockstep: grid = ceil_div(m, 64), ceil_div(n, 16)
// Four rows a thread, B's slab in shared memory, A through the cache.
extern "C" __global__ void matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k)
{
    __shared__ float sb[16][16];
    const int tx = threadIdx.x, ty = threadIdx.y, column = blockIdx.y * 16 + tx;
    float sum[4] = {};
    for (int k0 = 0; k0 < k; k0 += 16) {
        sb[ty][tx] = k0 + ty < k && column < n ? b[(k0 + ty) * n + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < 4; i++) {
            const int row = blockIdx.x * 64 + ty + 16 * i;
            for (int d = 0; d < 16 && k0 + d < k && row < m; d++) sum[i] += a[(long long)row * k + k0 + d] * sb[d][tx];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        const int row = blockIdx.x * 64 + ty + 16 * i;
        if (row < m) c[(long long)row * n + column] = sum[i];
    }
}

// Two buffers: the next tile is started, everything older is waited for, two barriers a turn.
#include "mma.cuh"
// lockstep: block = 128
// lockstep: grid = ceil_div(n, 32), ceil_div(m, 32)
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ __align__(16) float as[2][32][16], bs[2][16][32];
    int t = threadIdx.x, r0 = blockIdx.y * 32, c0 = blockIdx.x * 32;
    float acc[8] = {};
    auto load = [&](int buffer, int k0) {
        int r = r0 + t / 4, q = k0 + t % 4 * 4;
        bool ok = r < m && q < k;
        copy_async(shared_address(&as[buffer][t / 4][t % 4 * 4]), ok ? &a[r * k + q] : a, ok ? 16 : 0);
        r = k0 + t / 8, q = c0 + t % 8 * 4;
        ok = r < k && q < n;
        copy_async(shared_address(&bs[buffer][t / 8][t % 8 * 4]), ok ? &b[r * n + q] : b, ok ? 16 : 0);
        copy_commit();
    };
    load(0, 0);
    int buffer = 0;
    for (int k0 = 0; k0 < k; k0 += 16, buffer ^= 1) {
        if (k0 + 16 < k) {
            load(buffer ^ 1, k0 + 16);
            copy_wait<1>();
        } else {
            copy_wait<0>();
        }
        __syncthreads();
        for (int d = 0; d < 16; d++)
            for (int i = 0; i < 8; i++) acc[i] += as[buffer][t / 32 + 4 * i][d] * bs[buffer][d][t % 32];
        __syncthreads();
    }
    for (int i = 0; i < 8; i++) {
        int r = r0 + t / 32 + 4 * i, q = c0 + t % 32;
        if (r < m && q < n) c[r * n + q] = acc[i];
    }
}

// No asynchronous copy at all: the next tile waits in registers while this one is multiplied.
// does not reach: Tiles by asynchronous copies
// does not reach: The waiting is hidden
#include "lab.cuh"
// lockstep: block = 128
// lockstep: grid = ceil_div(n, 32), ceil_div(m, 32)
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float as[32][16], bs[16][32];
    const int t = threadIdx.x, r0 = blockIdx.y * 32, c0 = blockIdx.x * 32;
    float acc[4][2] = {};
    float4 zero = make_float4(0, 0, 0, 0), na, nb;
    auto load = [&](int k0) {
        int r = r0 + t / 4, q = k0 + t % 4 * 4;
        na = r < m && q < k ? *(const float4*)(a + r * k + q) : zero;
        r = k0 + t / 8, q = c0 + t % 8 * 4;
        nb = r < k && q < n ? *(const float4*)(b + r * n + q) : zero;
    };
    load(0);
    for (int k0 = 0; k0 < k; k0 += 16) {
        *(float4*)&as[t / 4][t % 4 * 4] = na;
        *(float4*)&bs[t / 8][t % 8 * 4] = nb;
        __syncthreads();
        load(k0 + 16);
        for (int d = 0; d < 16; d++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 2; j++) acc[i][j] += as[t / 16 + 8 * i][d] * bs[d][t % 16 + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 2; j++) {
            int r = r0 + t / 16 + 8 * i, q = c0 + t % 16 + 16 * j;
            if (r < m && q < n) c[r * n + q] = acc[i][j];
        }
}

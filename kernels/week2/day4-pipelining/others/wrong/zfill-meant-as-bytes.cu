// Gives the toolkit's function the bytes to read where it wants the bytes to zero.
// rejected for: wrong_output
// leads to: bytes to fill with zeros
#include <cuda_pipeline.h>
#include "lab.cuh"
// lockstep: block = 128
// lockstep: grid = ceil_div(n, 32), ceil_div(m, 32)
#define STAGES 3
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ __align__(16) float as[STAGES][32][16], bs[STAGES][16][32];
    const int t = threadIdx.x, r0 = blockIdx.y * 32, c0 = blockIdx.x * 32, steps = (k + 15) / 16;
    float acc[4][2] = {};
    auto fetch = [&](int s) {
        if (s < steps) {
            int ar = r0 + t / 4, ac = s * 16 + t % 4 * 4, br = s * 16 + t / 8, bc = c0 + t % 8 * 4;
            bool in_a = ar < m && ac < k, in_b = br < k && bc < n;
            __pipeline_memcpy_async(&as[s % STAGES][t / 4][t % 4 * 4], in_a ? a + ar * k + ac : a, 16, in_a ? 16 : 0);
            __pipeline_memcpy_async(&bs[s % STAGES][t / 8][t % 8 * 4], in_b ? b + br * n + bc : b, 16, in_b ? 16 : 0);
        }
        __pipeline_commit();
    };
    fetch(0);
    fetch(1);
    for (int s = 0; s < steps; s++) {
        __pipeline_wait_prior(1);
        __syncthreads();
        fetch(s + 2);
        for (int d = 0; d < 16; d++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 2; j++) acc[i][j] += as[s % STAGES][t / 16 + 8 * i][d] * bs[s % STAGES][d][t % 16 + 16 * j];
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 2; j++) {
            int r = r0 + t / 16 + 8 * i, q = c0 + t % 16 + 16 * j;
            if (r < m && q < n) c[r * n + q] = acc[i][j];
        }
}

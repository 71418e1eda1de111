// The pipeline of libcu++.
#include <cuda/pipeline>
#include "lab.cuh"
// lockstep: block = 128
// lockstep: grid = ceil_div(n, 32), ceil_div(m, 32)
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ __align__(16) float ta[3][32][16], tb[3][16][32];
    auto pipe = cuda::make_pipeline();
    const int r0 = blockIdx.y * 32, c0 = blockIdx.x * 32, t = threadIdx.x;
    float sum[4][2] = {};
    const int steps = (k + 15) / 16;
    auto load = [&](int s) {
        pipe.producer_acquire();
        if (s < steps) {
            const int row = r0 + t / 4, column = s * 16 + t % 4 * 4, brow = s * 16 + t / 8, bcolumn = c0 + t % 8 * 4;
            float4* pa = (float4*)&ta[s % 3][t / 4][t % 4 * 4];
            float4* pb = (float4*)&tb[s % 3][t / 8][t % 8 * 4];
            if (row < m && column < k) cuda::memcpy_async(pa, (const float4*)(a + row * k + column), cuda::aligned_size_t<16>(16), pipe);
            else *pa = make_float4(0, 0, 0, 0);
            if (brow < k && bcolumn < n) cuda::memcpy_async(pb, (const float4*)(b + brow * n + bcolumn), cuda::aligned_size_t<16>(16), pipe);
            else *pb = make_float4(0, 0, 0, 0);
        }
        pipe.producer_commit();
    };
    load(0);
    load(1);
    for (int s = 0; s < steps; s++) {
        cuda::pipeline_consumer_wait_prior<1>(pipe);
        __syncthreads();
        for (int d = 0; d < 16; d++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 2; j++) sum[i][j] += ta[s % 3][t / 16 + 8 * i][d] * tb[s % 3][d][t % 16 + 16 * j];
        pipe.consumer_release();
        load(s + 2);
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 2; j++) {
            int r = r0 + t / 16 + 8 * i, q = c0 + t % 16 + 16 * j;
            if (r < m && q < n) c[r * n + q] = sum[i][j];
        }
}

// Pairs codes 0 and 1 where the mask takes 0 and 4.
// rejected for: wrong_output
// leads to: Codes
#include "lab.cuh"
#include <cuda_fp16.h>
// lockstep: block = 64
// lockstep: grid = ceil_div(n, 2 * R)
#define R 16
__device__ half2 pair(unsigned w) { w = (w & 0x000f000fu) | 0x64006400u; return __hsub2(*(half2*)&w, __float2half2_rn(1032.f)); }
extern "C" __global__ void gemv_int4(const half* x, const unsigned char* w, const half* s, float* y, int n, int k)
{
    int lane = threadIdx.x % 32, r0 = (blockIdx.x * 2 + threadIdx.x / 32) * R, ng = (k + 127) / 128;
    float sum[R] = {};
    for (int i = lane; i < k / 32; i += 32) {
        half2 xs[16];
        for (int j = 0; j < 4; ++j) {
            uint4 e = ((const uint4*)x)[4 * i + j];
            unsigned a[4] = {e.x, e.y, e.z, e.w};
            for (int q = 0; q < 4; ++q) xs[4 * j + q] = *(half2*)&a[q];
        }
#pragma unroll
        for (int r = 0; r < R; ++r) {
            int row = r0 + r;
            if (row >= n) continue;
            uint4 v = ((const uint4*)w)[(size_t)row * (k / 32) + i];
            unsigned u[4] = {v.x, v.y, v.z, v.w};
            float p = 0;
            for (int j = 0; j < 4; ++j) {
                unsigned z = u[j] ^ 0x88888888u;
                half2 h = __hmul2(pair(z), xs[4 * j]);
                h = __hfma2(pair(z >> 4), xs[4 * j + 1], h);
                float2 f = __half22float2(h);
                h = __hmul2(pair(z >> 8), xs[4 * j + 2]);
                h = __hfma2(pair(z >> 12), xs[4 * j + 3], h);
                float2 g = __half22float2(h);
                p += f.x + f.y + g.x + g.y;
            }
            sum[r] += p * __half2float(s[(size_t)row * ng + i / 4]);
        }
    }
#pragma unroll
    for (int r = 0; r < R; ++r) {
        for (int d = 16; d; d /= 2) sum[r] += __shfl_xor_sync(FULL_MASK, sum[r], d);
        if (lane == 0 && r0 + r < n) y[r0 + r] = sum[r];
    }
}

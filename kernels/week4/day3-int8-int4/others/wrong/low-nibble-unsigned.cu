// Sign extension for the high nibble only.
// rejected for: wrong_output
// leads to: -8 to -1
#include "lab.cuh"
#include <cuda_fp16.h>
// lockstep: block = 256
// lockstep: grid = ceil_div(n, 64)
extern "C" __global__ void gemv_int4(const __half2* x, const unsigned char* w, const half* s, float* y, int n, int k)
{
    int lane = threadIdx.x & 31, base = (blockIdx.x * 8 + (threadIdx.x >> 5)) * 8;
    int half_k = k / 2, ng = (k + 127) / 128;
    float t[8] = {0};
    for (int i = lane; i < half_k; i += 32) {
        float2 v = __half22float2(x[i]);
#pragma unroll
        for (int r = 0; r < 8; ++r) {
            int row = base + r;
            if (row < n) {
                int b = (signed char)w[(size_t)row * half_k + i];
                int lo = b & 15, hi = b >> 4;
                t[r] += (lo * v.x + hi * v.y) * __half2float(s[(size_t)row * ng + i / 64]);
            }
        }
    }
#pragma unroll
    for (int r = 0; r < 8; ++r) {
        for (int d = 16; d; d >>= 1) t[r] += __shfl_down_sync(0xffffffff, t[r], d);
        if (!lane && base + r < n) y[base + r] = t[r];
    }
}

// Sixteen lanes a block, one element each; a shuffle pairs the codes.
// does not reach: Packed stores
// does not reach: Every sector once
#include "lab.cuh"
#include <cuda_bf16.h>
// lockstep: block = 256
// lockstep: grid = ceil_div(n * k, 256)
__device__ int rounded(float v)
{
    float m = fminf(fabsf(v), 6.f);
    int c = m < 2.f ? (int)rintf(2 * m) : m < 4.f ? 2 + (int)rintf(m) : 4 + (int)rintf(m / 2);
    return c | (int)signbit(v) << 3;
}
extern "C" __global__ void quantize_nvfp4(const __nv_bfloat16* x, const float* ts, unsigned char* q, unsigned char* s, int n, int k)
{
    long long i = (long long)blockIdx.x * 256 + threadIdx.x;
    bool on = i < (long long)n * k;
    float v = on ? __bfloat162float(x[i]) : 0.f, m = fabsf(v), t = *ts;
    for (int d = 8; d; d /= 2) m = fmaxf(m, __shfl_xor_sync(FULL_MASK, m, d, 16));
    float want = m / 6.f / t, step = want < 0.015625f ? 0.001953125f : exp2f(floorf(log2f(want)) - 3.f);
    float got = fminf(rintf(want / step) * step, 448.f);
    unsigned bits = __float_as_uint(got);
    unsigned code = got < 0.015625f ? (unsigned)(got * 512.f) : (bits >> 20) - 960;
    float f = got * t;
    int c = f > 0.f ? rounded(v / f) : 0, up = __shfl_down_sync(FULL_MASK, c, 1);
    if (on && i % 16 == 0) s[i / 16] = code;
    if (on && i % 2 == 0) q[i / 2] = c | up << 4;
}

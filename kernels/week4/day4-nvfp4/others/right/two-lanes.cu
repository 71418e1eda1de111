// Two lanes a block, 16 bytes a load and 4 bytes a store; comparisons in software, cvt where there is one.
#include "lab.cuh"
#include <cuda_bf16.h>
// lockstep: block = 128
// lockstep: grid = ceil_div(n * (k / 8), 128)
__device__ unsigned char e4m3(float v)
{
    // Steps of 2^-9 below 2^-6; above, the step is an eighth of the power of two below v.
    if (v >= 448.f) return 0x7e;
    int e = v < 0.015625f ? -6 : ilogbf(v);
    int c = (int)rintf(ldexpf(v, 3 - e));
    return (unsigned char)((e + 6) * 8 + c);
}
__device__ float value(unsigned char c) { return c < 8 ? ldexpf(c, -9) : ldexpf(8 + c % 8, c / 8 - 10); }
__device__ unsigned pair(float lo, float hi)
{
#if __CUDA_ARCH_FAMILY_SPECIFIC__ >= 1200
    unsigned short r;
    asm("{ .reg .b8 a; cvt.rn.satfinite.e2m1x2.f32 a, %1, %2; mov.b16 %0, {a, 0}; }" : "=h"(r) : "f"(hi), "f"(lo));
    return r;
#else
    unsigned r = 0;
    const float borders[7] = {0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5.f};
    for (int i = 0; i < 7; ++i) {
        r += i % 2 ? fabsf(lo) >= borders[i] : fabsf(lo) > borders[i];
        r += 16 * (i % 2 ? fabsf(hi) >= borders[i] : fabsf(hi) > borders[i]);
    }
    return r | (signbit(lo) ? 8 : 0) | (signbit(hi) ? 128 : 0);
#endif
}
extern "C" __global__ void quantize_nvfp4(const uint4* x, const float* ts, unsigned* q, unsigned char* s, int n, int k)
{
    long long p = (long long)blockIdx.x * 128 + threadIdx.x, all = (long long)n * (k / 8);
    uint4 v = p < all ? x[p] : uint4{0, 0, 0, 0};
    float f[8], m = 0;
    const __nv_bfloat162* h = (const __nv_bfloat162*)&v;
    for (int i = 0; i < 4; ++i) { float2 t = __bfloat1622float2(h[i]); f[2 * i] = t.x; f[2 * i + 1] = t.y; m = fmaxf(m, fmaxf(fabsf(t.x), fabsf(t.y))); }
    m = fmaxf(m, __shfl_xor_sync(~0u, m, 1));
    if (p >= all) return;
    unsigned char c = e4m3(m / 6.f / *ts);
    float d = value(c) * *ts;
    unsigned w = 0;
    if (d > 0) for (int i = 0; i < 4; ++i) w |= pair(f[2 * i] / d, f[2 * i + 1] / d) << 8 * i;
    q[p] = w;
    if (p % 2 == 0) s[p / 2] = c;
}

// Multiplies by the reciprocal.
// rejected for: wrong_output
// leads to: rounds twice
#include "lab.cuh"
#include <cuda_bf16.h>
#include <cuda_fp8.h>
// lockstep: block = 64
// lockstep: grid = ceil_div(n * (k / 16), 64)
__device__ unsigned nib(float v)
{
    float a = fabsf(v);
    unsigned c = a <= 0.25f ? 0 : a < 0.75f ? 1 : a <= 1.25f ? 2 : a < 1.75f ? 3 : a <= 2.5f ? 4 : a < 3.5f ? 5 : a <= 5.f ? 6 : 7;
    return signbit(v) ? c + 8 : c;
}
extern "C" __global__ void quantize_nvfp4(const __nv_bfloat16* x, const float* ts, unsigned long long* q, __nv_fp8_e4m3* s, int n, int k)
{
    long long b = (long long)blockIdx.x * 64 + threadIdx.x;
    if (b >= (long long)n * (k / 16)) return;
    float v[16], m = 0;
    for (int i = 0; i < 16; ++i) { v[i] = x[b * 16 + i]; m = fmaxf(m, fabsf(v[i])); }
    __nv_fp8_e4m3 e(m / 6.f / ts[0]);
    s[b] = e;
    float f = (float)e * ts[0];
    unsigned long long w = 0;
    if (f != 0) for (int i = 0; i < 16; ++i) w |= (unsigned long long)nib(v[i] * (1 / f)) << (4 * i);
    q[b] = w;
}

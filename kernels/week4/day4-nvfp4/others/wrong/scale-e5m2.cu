// The scale in E5M2.
// rejected for: wrong_output
// leads to: rounded to nearest even
#include "lab.cuh"
#include <cuda_bf16.h>
#include <cuda_fp8.h>
// lockstep: block = 256
// lockstep: grid = ceil_div(n * (k / 16), 16)
// Sixteen lanes a block of 16: one element each, codes packed by shuffles. The header rounds the scale.
__device__ unsigned nearest(float q)
{
    const float m = fminf(fabsf(q), 6.0f);
    unsigned c;
    if (m < 2.0f) c = (unsigned)rintf(m * 2.0f);           // steps of 0.5
    else if (m < 4.0f) c = 2 + (unsigned)rintf(m);         // steps of 1
    else c = 4 + (unsigned)rintf(m * 0.5f);                // steps of 2
    return c | (signbit(q) ? 8u : 0u);
}
extern "C" __global__ void quantize_nvfp4(const __nv_bfloat16* __restrict__ x, const float* __restrict__ y_scale, unsigned char* __restrict__ y_codes,
                                          unsigned char* __restrict__ y_scales, int n, int k)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const bool inside = i < (long long)n * k;
    const float v = inside ? __bfloat162float(x[i]) : 0.0f;
    float most = fabsf(v);
    for (int d = 8; d > 0; d /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d, 16));
    const __nv_fp8_storage_t s = __nv_cvt_float_to_fp8(most / 6.0f / *y_scale, __NV_SATFINITE, __NV_E5M2);
    const float factor = __half2float(__half(__nv_cvt_fp8_to_halfraw(s, __NV_E4M3))) * *y_scale;
    const unsigned mine = factor > 0.0f ? nearest(v / factor) : 0u;
    const unsigned other = __shfl_down_sync(0xffffffffu, mine, 1);
    if (!inside) return;
    if (i % 16 == 0) y_scales[i / 16] = s;
    if (i % 2 == 0) y_codes[i / 2] = (unsigned char)(mine | other << 4);
}

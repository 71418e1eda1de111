// Divides an element by one scale, then by the other.
// rejected for: wrong_output
// leads to: times the tensor's scale
#include "lab.cuh"
#include <cuda_bf16.h>

__device__ unsigned e4m3_code(float x)
{
    const unsigned bits = __float_as_uint(x);
    const unsigned small = __float2int_rn(x * 512.0f);
    const unsigned large = ((bits + 0x7ffff + (bits >> 20 & 1)) >> 20) - (120 << 3);
    return x < 0.015625f ? small : min(large, 0x7eu);
}
__device__ float e4m3_value(unsigned code)
{
    return code < 8 ? code * 0.001953125f : __uint_as_float((code << 20) + (120 << 23));
}

__device__ unsigned e2m1(float x)
{
    const float m = fabsf(x);
    const unsigned c = (m > 0.25f) + (m >= 0.75f) + (m > 1.25f) + (m >= 1.75f) + (m > 2.5f) + (m >= 3.5f) + (m > 5.0f);
    return c | __float_as_uint(x) >> 31 << 3;
}

// lockstep: block = 128
// lockstep: grid = ceil_div(n * (k / 16), 128)
extern "C" __global__ void quantize_nvfp4(const __nv_bfloat16* x, const float* y_scale, unsigned char* y_codes, unsigned char* y_scales, int n, int k)
{
    const int block = blockIdx.x * blockDim.x + threadIdx.x;
    if (block >= n * (k / 16)) return;
    const uint4* from = reinterpret_cast<const uint4*>(x) + 2ll * block;
    const uint4 a = from[0], b = from[1];
    const unsigned words[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
    float v[16], most = 0.0f;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        v[2 * i] = __uint_as_float(words[i] << 16);
        v[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
    }
#pragma unroll
    for (int i = 0; i < 16; i++) most = fmaxf(most, fabsf(v[i]));
    const float tensor = *y_scale;
    const unsigned scale = e4m3_code(most / 6.0f / tensor);
    const float factor = e4m3_value(scale) * tensor;
    uint2 out = make_uint2(0u, 0u);
    if (factor > 0.0f) {
#pragma unroll
        for (int i = 0; i < 8; i++) {
            out.x |= e2m1(v[i] / e4m3_value(scale) / tensor) << 4 * i;
            out.y |= e2m1(v[i + 8] / e4m3_value(scale) / tensor) << 4 * i;
        }
    }
    y_scales[block] = (unsigned char)scale;
    reinterpret_cast<uint2*>(y_codes)[block] = out;
}

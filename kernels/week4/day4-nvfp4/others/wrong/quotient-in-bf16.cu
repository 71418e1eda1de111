// Divides in bf16.
// rejected for: wrong_output
// leads to: bf16
#include "lab.cuh"
#include <cuda_bf16.h>

#if __CUDA_ARCH_FAMILY_SPECIFIC__ >= 1200 && __CUDA_ARCH_FAMILY_SPECIFIC__ < 1300
#define NATIVE 1
#else
#define NATIVE 0
#endif

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

// lockstep: block = 64
// lockstep: grid = min(ceil_div(n * (k / 16), 64), 4096)
__device__ unsigned byte_of(float low, float high)
{
#if NATIVE
    unsigned byte;
    asm("{ .reg .b8 t; cvt.rn.satfinite.e2m1x2.f32 t, %1, %2; cvt.u32.u8 %0, t; }" : "=r"(byte) : "f"(high), "f"(low));
    return byte;
#else
    return e2m1(low) | e2m1(high) << 4;
#endif
}
extern "C" __global__ void quantize_nvfp4(const __nv_bfloat16* x, const float* y_scale, unsigned char* y_codes, unsigned char* y_scales, int n, int k)
{
    const int blocks = n * (k / 16);
    const float tensor = y_scale[0];
    for (int block = blockIdx.x * blockDim.x + threadIdx.x; block < blocks; block += gridDim.x * blockDim.x) {
        const __nv_bfloat16* from = x + (size_t)block * 16;
        __nv_bfloat16 most = __float2bfloat16(0.0f);
        for (int i = 0; i < 16; i++) most = __hmax(most, __habs(from[i]));
        const unsigned scale = e4m3_code(__bfloat162float(most) / 6.0f / tensor);
        const float factor = e4m3_value(scale) * tensor;
        y_scales[block] = scale;
        for (int j = 0; j < 8; j++) {
            unsigned byte = 0;
            if (factor > 0.0f) byte = byte_of(__bfloat162float(__hdiv(from[2 * j], __float2bfloat16(factor))), __bfloat162float(__hdiv(from[2 * j + 1], __float2bfloat16(factor))));
            y_codes[(size_t)block * 8 + j] = byte;
        }
    }
}

// Against the rung before: two lanes share a block, so that neighboring lanes load neighboring 16 bytes and no sector is touched
// twice by a request.
#include "lab.cuh"
#include <cuda_bf16.h>

#if __CUDA_ARCH_FAMILY_SPECIFIC__ >= 1200 && __CUDA_ARCH_FAMILY_SPECIFIC__ < 1300
#define NATIVE 1  // sm_120a or sm_121a: there is an instruction
#else
#define NATIVE 0
#endif

// A scale as e4m3, rounded to nearest even; not below 0, 448 at most.
__device__ unsigned e4m3_code(float x)
{
    const unsigned bits = __float_as_uint(x);
    const unsigned small = __float2int_rn(x * 512.0f);  // below 2^-6 the step is 2^-9
    const unsigned large = ((bits + 0x7ffff + (bits >> 20 & 1)) >> 20) - (120 << 3);
    return x < 0.015625f ? small : min(large, 0x7eu);
}

// What such a code means.
__device__ float e4m3_value(unsigned code)
{
    return code < 8 ? code * 0.001953125f : __uint_as_float((code << 20) + (120 << 23));
}

__device__ unsigned one_code(float x)
{
    const float m = fabsf(x);
    const unsigned code = (m > 0.25f) + (m >= 0.75f) + (m > 1.25f) + (m >= 1.75f) + (m > 2.5f) + (m >= 3.5f) + (m > 5.0f);
    return code | (__float_as_uint(x) >> 31) << 3;
}

// Two numbers as e2m1, in one byte: `low` in bits 0 to 3, `high` in bits 4 to 7. Nearest even, 6 at most.
__device__ unsigned two_codes(float low, float high)
{
#if NATIVE
    unsigned byte = 0;
    asm("{ .reg .b8 t; cvt.rn.satfinite.e2m1x2.f32 t, %2, %1; cvt.u32.u8 %0, t; }" : "=r"(byte) : "f"(low), "f"(high));
    return byte;
#else
    return one_code(low) | one_code(high) << 4;
#endif
}

// NVFP4: a tensor scale for all, an e4m3 scale for each block of 16, and an e2m1 code for each element.
// k is a multiple of 16. Two lanes share a block.
// lockstep: block = 128
// lockstep: grid = ceil_div(n * (k / 8), 128)
extern "C" __global__ void quantize_nvfp4(const uint4* x, const float* y_scale, unsigned* y_codes, unsigned char* y_scales, int n,
                                          int k)
{
    const long long piece = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const bool there = piece < (long long)n * (k / 8);
    const uint4 eight = there ? x[piece] : make_uint4(0, 0, 0, 0);
    const __nv_bfloat16* from = reinterpret_cast<const __nv_bfloat16*>(&eight);
    float largest = 0.0f;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        largest = fmaxf(largest, fabsf(__bfloat162float(from[i])));
    }
    largest = fmaxf(largest, __shfl_xor_sync(FULL_MASK, largest, 1));
    if (!there) {
        return;
    }
    const unsigned scale = e4m3_code(largest / 6.0f / *y_scale);
    const float factor = e4m3_value(scale) * *y_scale;
    unsigned codes = 0;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        codes |= two_codes(__bfloat162float(from[2 * j]) / factor, __bfloat162float(from[2 * j + 1]) / factor) << (8 * j);
    }
    y_codes[piece] = factor > 0.0f ? codes : 0;
    if (piece % 2 == 0) {
        y_scales[piece / 2] = scale;
    }
}

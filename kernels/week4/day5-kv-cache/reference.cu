#include "lab.cuh"

// Appends a chunk of tokens to a cache of NVFP4 values. A thread has 8 elements: one 16-byte load, eight codes in one word; two
// neighboring threads share a scale.
// lockstep: append_values.block = THREADS
// lockstep: append_values.grid = ceil_div(chunk * key_heads, THREADS / 16)
#define THREADS 256

// x, at least 0, as an e4m3 code: to nearest even, saturating.
__device__ uint32_t to_e4m3(float x)
{
#if __CUDA_ARCH__ >= 890
    uint16_t pair;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(x));
    return pair;
#else
    if (x >= 448.0f) return 0x7e;
    if (x < 0.015625f) return __float2uint_rn(x * 512.0f);
    const uint32_t bits = __float_as_uint(x);
    return (bits + 0x7ffff + (bits >> 20 & 1) - (120u << 23)) >> 20;
#endif
}

// The value of an e4m3 code that is no NaN and not negative.
__device__ float from_e4m3(uint32_t code)
{
    return code < 8 ? code / 512.0f : __uint_as_float((code << 20) + (120u << 23));
}

// Two numbers as e2m1 codes, to nearest even and saturating, `low` in the low nibble.
__device__ uint32_t to_e2m1(float low, float high)
{
#if __CUDA_ARCH_FAMILY_SPECIFIC__ >= 1200 && __CUDA_ARCH_FAMILY_SPECIFIC__ < 1300  // sm_120a, sm_121a: there is an instruction
    uint32_t pair;
    asm("{.reg .b8 both;\n\tcvt.rn.satfinite.e2m1x2.f32 both, %1, %2;\n\tcvt.u32.u8 %0, both;}" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
#else
    uint32_t codes = 0;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const float x = i == 0 ? low : high, size = fabsf(x);
        // Of two neighbors the even code wins a tie.
        const uint32_t code = (size > 0.25f) + (size >= 0.75f) + (size > 1.25f) + (size >= 1.75f) + (size > 2.5f) + (size >= 3.5f) + (size > 5.0f);
        codes |= (code | (__float_as_uint(x) >> 28 & 8)) << 4 * i;
    }
    return codes;
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS)
    append_values(const uint16_t* __restrict__ v, const float* __restrict__ v_scale, const int* __restrict__ length,
                  uint8_t* __restrict__ v_codes, uint8_t* __restrict__ v_scales, int chunk, int key_heads)
{
    const long long thread = (long long)blockIdx.x * THREADS + threadIdx.x;
    // A row has 16 threads, so that both of a block of 16 elements are inside or outside together.
    const bool is_inside = thread < 16ll * chunk * key_heads;
    const long long at = 16ll * *length * key_heads + (is_inside ? thread : 0);
    const uint4 words = __ldcs(reinterpret_cast<const uint4*>(v) + at);
    const uint32_t pairs[4] = {words.x, words.y, words.z, words.w};
    float x[8], most = 0.0f;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        x[2 * i] = __uint_as_float(pairs[i] << 16);
        x[2 * i + 1] = __uint_as_float(pairs[i] & 0xffff0000);
        most = fmaxf(most, fmaxf(fabsf(x[2 * i]), fabsf(x[2 * i + 1])));
    }
    most = fmaxf(most, __shfl_xor_sync(FULL_MASK, most, 1));

    const float whole = *v_scale;
    const uint32_t scale = to_e4m3(most / 6.0f / whole);
    const float factor = from_e4m3(scale) * whole;
    uint32_t codes = 0;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const uint32_t pair = to_e2m1(x[2 * i] / factor, x[2 * i + 1] / factor);
        codes |= pair << 8 * i;
    }
    if (!is_inside) return;
    reinterpret_cast<uint32_t*>(v_codes)[at] = factor == 0.0f ? 0 : codes;
    if (at % 2 == 0) v_scales[at / 2] = static_cast<uint8_t>(scale);
}

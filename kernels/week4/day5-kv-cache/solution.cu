#include "lab.cuh"

// Appends a chunk of tokens to a cache of NVFP4 values. A block has one row of 128 elements, a thread one element.
// lockstep: append_values.block = 128
// lockstep: append_values.grid = chunk * key_heads

// x, at least 0, as an e4m3 code: to nearest even, saturating at 448.
__device__ uint32_t to_e4m3(float x)
{
    if (x >= 448.0f) {
        return 0x7e;
    }
    if (x < 0.015625f) {
        return __float2uint_rn(x * 512.0f);
    }
    const uint32_t bits = __float_as_uint(x);
    return (bits + 0x7ffff + (bits >> 20 & 1) - (120u << 23)) >> 20;
}

// The value of an e4m3 code that is not negative.
__device__ float from_e4m3(uint32_t code)
{
    return code < 8 ? code / 512.0f : __uint_as_float((code << 20) + (120u << 23));
}

// x as an e2m1 code: to nearest even, saturating at 6.
__device__ uint32_t to_e2m1(float x)
{
    const float size = fabsf(x);
    const uint32_t code = (size > 0.25f) + (size >= 0.75f) + (size > 1.25f) + (size >= 1.75f) + (size > 2.5f) + (size >= 3.5f) + (size > 5.0f);
    return code | (__float_as_uint(x) >> 31 << 3);
}

extern "C" __global__ void append_values(const uint16_t* v, const float* v_scale, const int* length, uint8_t* v_codes,
                                         uint8_t* v_scales, int chunk, int key_heads)
{
    // A row is one head of one token. The chunk's first row, in v as in the cache:
    const long long first = (long long)*length * key_heads;
    const long long row = first + blockIdx.x;
    const int element = threadIdx.x;
    const float x = __uint_as_float((uint32_t)v[row * 128 + element] << 16);

    // The largest magnitude of the 16 elements that share a scale.
    float most = fabsf(x);
    for (int distance = 8; distance > 0; distance /= 2) {
        most = fmaxf(most, __shfl_xor_sync(FULL_MASK, most, distance));
    }
    const uint32_t scale = to_e4m3(most / 6.0f / *v_scale);
    const float factor = from_e4m3(scale) * *v_scale;
    const uint32_t code = factor == 0.0f ? 0 : to_e2m1(x / factor);

    // Two codes are one byte, the even element in the low nibble.
    const uint32_t next = __shfl_down_sync(FULL_MASK, code, 1);
    if (element % 2 == 0) {
        v_codes[row * 64 + element / 2] = (uint8_t)(code | next << 4);
    }
    if (element % 16 == 0) {
        v_scales[row * 8 + element / 16] = (uint8_t)scale;
    }
}

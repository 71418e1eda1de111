// Four elements a thread, four threads a block of 16, two bytes of codes a store.
#include "lab.cuh"
// lockstep: append_values.block = 32, 4
// lockstep: append_values.grid = ceil_div(chunk * key_heads, 4)
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
    return code | (x < 0.0f ? 8 : 0);
}

extern "C" __global__ void append_values(const ushort4* v, const float* v_scale, const int* length, uint16_t* v_codes,
                                         uint8_t* v_scales, int chunk, int key_heads)
{
    const int own = blockIdx.x * 4 + threadIdx.y, lane = threadIdx.x;
    if (own >= chunk * key_heads) return;
    const long long row = (long long)*length * key_heads + own;
    const ushort4 four = v[row * 32 + lane];
    const float x[4] = {__uint_as_float(four.x << 16), __uint_as_float(four.y << 16), __uint_as_float(four.z << 16), __uint_as_float(four.w << 16)};
    float most = fmaxf(fmaxf(fabsf(x[0]), fabsf(x[1])), fmaxf(fabsf(x[2]), fabsf(x[3])));
    most = fmaxf(most, __shfl_xor_sync(FULL_MASK, most, 1));
    most = fmaxf(most, __shfl_xor_sync(FULL_MASK, most, 2));
    const uint32_t scale = to_e4m3(most / 6.0f / *v_scale);
    const float f = from_e4m3(scale) * *v_scale;
    uint32_t codes = 0;
    for (int i = 0; i < 4 && f > 0.0f; i++) codes |= to_e2m1(x[i] / f) << 4 * i;
    v_codes[row * 32 + lane] = (uint16_t)codes;
    if (lane % 4 == 0) v_scales[row * 8 + lane / 4] = (uint8_t)scale;
}

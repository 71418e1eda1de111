// As on a CPU: one thread does 16 elements in a row.
// does not reach: Whole sectors
// does not reach: At the speed of the bytes
#include "lab.cuh"
// lockstep: append_values.block = 64
// lockstep: append_values.grid = ceil_div(chunk * key_heads * 8, 64)
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

extern "C" __global__ void append_values(const uint16_t* v, const float* v_scale, const int* length, uint8_t* v_codes,
                                         uint8_t* v_scales, int chunk, int key_heads)
{
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= chunk * key_heads * 8) return;
    long long block = (long long)*length * key_heads * 8 + b;
    float x[16], m = 0;
    for (int i = 0; i < 16; i++) {
        x[i] = __uint_as_float((unsigned)v[block * 16 + i] << 16);
        m = fmaxf(m, fabsf(x[i]));
    }
    unsigned s = to_e4m3(m / 6 / v_scale[0]);
    float f = from_e4m3(s) * v_scale[0];
    v_scales[block] = s;
    for (int i = 0; i < 16; i += 2) {
        unsigned lo = f == 0 ? 0 : to_e2m1(x[i] / f), hi = f == 0 ? 0 : to_e2m1(x[i + 1] / f);
        v_codes[block * 8 + i / 2] = lo | hi << 4;
    }
}

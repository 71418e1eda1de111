// The row waits in shared memory; sixteen threads read each block again.
// does not reach: At the speed of the bytes
#include "lab.cuh"
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
    return code | (x < 0.0f ? 8 : 0);
}

extern "C" __global__ void append_values(const uint16_t* v, const float* v_scale, const int* length, uint8_t* v_codes,
                                         uint8_t* v_scales, int chunk, int key_heads)
{
    __shared__ float row[128];
    __shared__ uint8_t codes[128];
    const int t = threadIdx.x;
    const long long r = (long long)*length * key_heads + blockIdx.x;
    row[t] = __uint_as_float((uint32_t)v[r * 128 + t] << 16);
    __syncthreads();
    float most = 0.0f;
    for (int i = 0; i < 16; i++) most = fmaxf(most, fabsf(row[t / 16 * 16 + i]));
    const uint32_t scale = to_e4m3(most / 6.0f / *v_scale);
    const float f = from_e4m3(scale) * *v_scale;
    codes[t] = f > 0.0f ? to_e2m1(row[t] / f) : 0;
    __syncthreads();
    if (t < 64) v_codes[r * 64 + t] = codes[2 * t] | codes[2 * t + 1] << 4;
    if (t < 8) {
        float m = 0.0f;
        for (int i = 0; i < 16; i++) m = fmaxf(m, fabsf(row[16 * t + i]));
        v_scales[r * 8 + t] = to_e4m3(m / 6.0f / *v_scale);
    }
}

// Reads the right chunk, and always stores at the beginning.
// rejected for: wrong_output
// leads to: *length
#include "lab.cuh"
#include <cuda_bf16.h>

__device__ unsigned e4m3_of(float x)
{
    if (x >= 448.0f) return 0x7e;
    if (x < 0.015625f) return __float2uint_rn(x * 512.0f);
    const unsigned b = __float_as_uint(x);
    return (b + 0x7ffff + (b >> 20 & 1) - (120u << 23)) >> 20;
}
__device__ float e4m3_to(unsigned c) { return c < 8 ? c * 0.001953125f : __uint_as_float((c << 20) + (120u << 23)); }
__device__ unsigned e2m1_of(float q)
{
    const float m = fminf(fabsf(q), 6.0f);
    const unsigned c = m < 2.0f ? (unsigned)rintf(2.0f * m) : m < 4.0f ? 2u + (unsigned)rintf(m) : 4u + (unsigned)rintf(0.5f * m);
    return c | (signbit(q) ? 8u : 0u);
}

// lockstep: append_values.block = 64
// lockstep: append_values.grid = 12
// A thread a block of 16, blocks counted through all rows of the chunk, a stride over the grid.
extern "C" __global__ void append_values(const __nv_bfloat16* __restrict__ v, const float* __restrict__ v_scale, const int* __restrict__ length,
                                         unsigned char* __restrict__ v_codes, unsigned char* __restrict__ v_scales, int chunk, int key_heads)
{
    const float tensor = *v_scale;
    const size_t begin = (size_t)*length * key_heads * 8;
    const int blocks = chunk * key_heads * 8;
    for (int b = blockIdx.x * blockDim.x + threadIdx.x; b < blocks; b += gridDim.x * blockDim.x) {
        const size_t at = begin + b;
        float most = 0;
        for (int i = 0; i < 16; i++) most = fmaxf(most, fabsf(__bfloat162float(v[16 * at + i])));
        const unsigned s = e4m3_of(most / 6.0f / tensor);
        const float f = e4m3_to(s) * tensor;
        v_scales[b] = s;
        for (int i = 0; i < 8; i++) {
            unsigned low = 0, high = 0;
            if (f > 0) {
                low = e2m1_of(__bfloat162float(v[16 * at + 2 * i]) / f);
                high = e2m1_of(__bfloat162float(v[16 * at + 2 * i + 1]) / f);
            }
            v_codes[8 * b + i] = low | high << 4;
        }
    }
}

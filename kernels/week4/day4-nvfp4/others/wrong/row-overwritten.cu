// No barrier before the next part of a long row is loaded.
// rejected for: race
// leads to: over this one
#include "lab.cuh"
#include <cuda_bf16.h>

#define T 128
// lockstep: block = T
// lockstep: grid = n

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

template <int TIES_TO_EVEN_BIT = 22>
__device__ unsigned code_by_bits(float q)
{
    const unsigned b = __float_as_uint(q) & 0x7fffffffu, sign = __float_as_uint(q) >> 31 << 3;
    if (b < 0x3f800000u) return sign | __float2uint_rn(2.0f * __uint_as_float(b));
    const unsigned r = (b + 0x1fffffu + (b >> TIES_TO_EVEN_BIT & 1)) >> TIES_TO_EVEN_BIT;
    return sign | min(r - 252u, 7u);
}
extern "C" __global__ void quantize_nvfp4(const __nv_bfloat16* x, const float* y_scale, unsigned char* y_codes, unsigned char* y_scales, int n, int k)
{
    __shared__ unsigned short row[2048];
    __shared__ unsigned char scales[128];
    const float t = *y_scale;
    for (int start = 0; start < k; start += 2048) {
        const int size = min(2048, k - start);
        for (int i = threadIdx.x; i < size; i += T) row[i] = __bfloat16_as_ushort(x[(size_t)blockIdx.x * k + start + i]);
        __syncthreads();
        for (int g = threadIdx.x; g < size / 16; g += T) {
            unsigned m = 0;
            for (int j = 0; j < 16; j++) m = max(m, row[16 * g + (j + g) % 16] & 0x7fffu);
            scales[g] = e4m3_code(__uint_as_float(m << 16) / 6.0f / t);
            y_scales[(size_t)blockIdx.x * (k / 16) + start / 16 + g] = scales[g];
        }
        __syncthreads();
        for (int b = threadIdx.x; b < size / 2; b += T) {
            const float f = e4m3_value(scales[b / 8]) * t;
            unsigned byte = 0;
            if (f != 0.0f) {
                byte = code_by_bits<>(__uint_as_float((unsigned)row[2 * b] << 16) / f);
                byte |= code_by_bits<>(__uint_as_float((unsigned)row[2 * b + 1] << 16) / f) << 4;
            }
            y_codes[(size_t)blockIdx.x * (k / 2) + start / 2 + b] = byte;
        }
    }
}

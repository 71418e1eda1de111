#include "lab.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// codes[row][i] = the E4M3 code of x[row][i] / scale[row]. Each thread takes eight neighboring elements of a row: one
// load of 16 bytes, one store of 8.
// lockstep: block = 32, 8
// lockstep: grid = ceil_div(columns, 256), ceil_div(rows, 8)
// x / scale, rounded as IEEE division does it, at the cost of a product and two fmas: `inverse` is 1 / scale, and the
// fma's exact remainder says what the product is off by.
__device__ float divided(float x, float scale, float inverse)
{
    const float guess = x * inverse;
    const float better = fmaf(-fmaf(guess, scale, -x), inverse, guess);
    return better == better ? better : guess;  // infinity has no remainder; NaN stays NaN
}

// The codes of two floats, that of `low` in the low byte.
__device__ unsigned e4m3x2(float low, float high)
{
#if __CUDA_ARCH__ >= 890
    unsigned short codes;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(high), "f"(low));
    return codes;
#else
    unsigned codes = 0;
    for (int half = 0; half < 2; half++) {
        const unsigned bits = __float_as_uint(half == 0 ? low : high);
        const unsigned magnitude = bits & 0x7fffffff;
        unsigned code;
        if (magnitude > 0x7f800000) {  // NaN
            codes |= 0x7fu << (8 * half);
            continue;
        }
        if (magnitude >= __float_as_uint(464.0f)) {
            code = 0x7e;
        } else if (magnitude < __float_as_uint(0.015625f)) {
            // Subnormal: steps of 2^-9. Adding 2^14, whose last bit is 2^-9, rounds to them.
            code = __float_as_uint(__uint_as_float(magnitude) + 16384.0f) - __float_as_uint(16384.0f);
        } else {
            // 20 of 23 fraction bits go: add half of what the last kept bit counts, less one where that is even.
            code = (magnitude + 0x7ffff + ((magnitude >> 20) & 1)) >> 20;
            code -= (127 - 7) << 3;  // the exponent's bias
        }
        codes |= (code | (bits >> 31 << 7)) << (8 * half);
    }
    return codes;
#endif
}

extern "C" __global__ void __launch_bounds__(256)
    to_e4m3(const __half* __restrict__ x, const __nv_bfloat16* __restrict__ scale, unsigned char* __restrict__ codes, int rows, int columns)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows) {
        return;
    }
    const float of_row = __bfloat162float(scale[row]);
    const float inverse = 1.0f / of_row;
    const __half* from = x + (long long)row * columns;
    unsigned char* to = codes + (long long)row * columns;
    if (columns % 8 == 0) {
        const int eighth = blockIdx.x * blockDim.x + threadIdx.x;
        if (8 * eighth < columns) {
            const uint4 eight = __ldcs(reinterpret_cast<const uint4*>(from) + eighth);
            const unsigned words[4] = {eight.x, eight.y, eight.z, eight.w};
            unsigned pairs[4];
#pragma unroll
            for (int k = 0; k < 4; k++) {
                const float2 two = __half22float2(*reinterpret_cast<const __half2*>(&words[k]));
                pairs[k] = e4m3x2(divided(two.x, of_row, inverse), divided(two.y, of_row, inverse));
            }
            __stcs(reinterpret_cast<uint2*>(to) + eighth, make_uint2(pairs[0] | pairs[1] << 16, pairs[2] | pairs[3] << 16));
        }
        return;
    }
    // Rows begin anywhere: single elements, neighboring lanes side by side.
    for (int k = 0; k < 8; k++) {
        const int i = (8 * blockIdx.x + k) * blockDim.x + threadIdx.x;
        if (i < columns) {
            to[i] = e4m3x2(divided(__half2float(from[i]), of_row, inverse), 0.0f);
        }
    }
}

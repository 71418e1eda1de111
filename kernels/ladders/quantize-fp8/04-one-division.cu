// Against the rung before: one division a thread in place of eight. A product with 1 / scale rounds twice and misses some ties; two
// fused multiply-adds find out what it was off by, and then every quotient is the division's. Loads and stores are marked as
// streaming, since nothing is read again.
#include "lab.cuh"
#include <cuda_fp16.h>

// y_codes = the E4M3 codes of x / scale, with one scale for the whole tensor, between 2^-100 and 2^100.
// lockstep: block = THREADS
// lockstep: grid = ceil_div(rows * columns, 8 * PIECES * THREADS)
#define THREADS 256
#define PIECES 1  // of eight numbers, for each thread; they are all loaded before the first is worked on

// The E4M3 code of a float, in whole numbers: sign, 4 exponent bits, 3 fraction bits. To nearest, ties to even, 448 at most.
__device__ unsigned e4m3(float value)
{
    const unsigned bits = __float_as_uint(value);
    const unsigned magnitude = bits & 0x7fffffff;
    unsigned code = 0x7f;  // NaN
    if (magnitude < __float_as_uint(0.015625f)) {
        // Beside 2^14 the last bit of a float counts 2^-9, the step of E4M3's subnormals.
        code = __float_as_uint(fabsf(value) + 16384.0f) - __float_as_uint(16384.0f);
    } else if (magnitude < __float_as_uint(464.0f)) {
        code = ((magnitude + 0x7ffff + (magnitude >> 20 & 1)) >> 20) - (127 - 7) * 8;
    } else if (magnitude <= 0x7f800000) {
        code = 0x7e;
    }
    return magnitude <= 0x7f800000 ? code | bits >> 31 << 7 : code;
}

// The codes of two floats, that of `low` in the low byte. sm_89 and newer have an instruction for it.
__device__ __forceinline__ unsigned e4m3x2(float low, float high)
{
#if __CUDA_ARCH__ >= 890
    unsigned short codes;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(high), "f"(low));
    return codes;
#else
    return e4m3(low) | e4m3(high) << 8;
#endif
}

__device__ __forceinline__ __half2 as_pair(unsigned word)
{
    return *reinterpret_cast<const __half2*>(&word);
}

// x / scale as a division rounds it, from inverse = 1 / scale: a product, and what it was off by. -0 stays -0.
__device__ __forceinline__ float divided(float x, float scale, float inverse)
{
    const float guess = x * inverse;
    const float better = fmaf(-fmaf(guess, scale, -x), inverse, guess);
    return better == better ? better : guess;  // infinity has no remainder
}

// Eight codes of eight halves / scale.
__device__ __forceinline__ uint2 eight_codes(uint4 v, float scale, float inverse)
{
    const unsigned words[4] = {v.x, v.y, v.z, v.w};
    unsigned pairs[4];
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const float2 two = __half22float2(as_pair(words[j]));
        pairs[j] = e4m3x2(divided(two.x, scale, inverse), divided(two.y, scale, inverse));
    }
    return make_uint2(pairs[0] | pairs[1] << 16, pairs[2] | pairs[3] << 16);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    quantize_fp8(const __half* __restrict__ x, const float* __restrict__ scale, unsigned char* __restrict__ y_codes, int rows,
                 int columns)
{
    const long long n = (long long)rows * columns;
    const long long eighths = n / 8;
    const long long first = (long long)blockIdx.x * (THREADS * PIECES) + threadIdx.x;
    uint4 v[PIECES];
#pragma unroll
    for (int p = 0; p < PIECES; p++) {
        const long long i = first + p * THREADS;
        v[p] = i < eighths ? __ldcs(reinterpret_cast<const uint4*>(x) + i) : make_uint4(0, 0, 0, 0);
    }
    const float of_all = *scale, inverse = 1.0f / of_all;
#pragma unroll
    for (int p = 0; p < PIECES; p++) {
        const long long i = first + p * THREADS;
        if (i < eighths) {
            __stcs(reinterpret_cast<uint2*>(y_codes) + i, eight_codes(v[p], of_all, inverse));
        } else if (i == eighths) {
            // The last one to seven numbers.
            for (long long at = 8 * i; at < n; at++) {
                y_codes[at] = e4m3x2(divided(__half2float(x[at]), of_all, inverse), 0.0f);
            }
        }
    }
}

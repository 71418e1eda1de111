// Against the rung before: the row is read once. Each thread holds up to 32 numbers as they came, with four loads of 16 bytes on
// their way at once. Up to 1,024 columns a row is one warp's or a part of one, and four warps make a block; beyond, a block has
// it. What is behind the first 16,384 columns is read twice. And a thread divides once: a product and two fused multiply-adds do
// the other divisions.
#include "lab.cuh"
#include <cuda_fp16.h>

// y_scales[row] = the largest magnitude of the row / 448, y_codes = the E4M3 codes of x / y_scales[row]. A row of zeros has
// scale 0 and codes 0.
// lockstep: block = min(MOST, max(128, round_up(ceil_div(columns, 8 * EACH), 32)))
// lockstep: grid = ceil_div(rows, 4 / (1 + 3 * min(1, (columns - 1) / 1024)) * (1 + min(1, 512 / columns) + 2 * min(1, 256 / columns) + 4 * min(1, 128 / columns)))
#define MOST 512  // threads of a block at most
#define EACH 4    // loads of 16 bytes that a thread holds

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

// x / scale as a division rounds it, from inverse = 1 / scale: a product, and what it was off by. -0 stays -0. None is infinite.
__device__ __forceinline__ float divided(float x, float scale, float inverse)
{
    const float guess = x * inverse;
    return fmaf(-fmaf(guess, scale, -x), inverse, guess);
}

// 1 / scale, to the nearest float, as a division's fast path has it: an approximation and a step of Newton's method. A scale that
// is neither 0 nor infinite lies between 2^-33 and 2^10 here; 0 gives NaN.
__device__ __forceinline__ float reciprocal(float scale)
{
    float near;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(near) : "f"(scale));
    return scale < INFINITY ? fmaf(near, -fmaf(scale, near, -1.0f), near) : 0.0f;
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

// The larger magnitude of eight halves and `most`, in each half. Of a number and a NaN it is the number.
__device__ __forceinline__ __half2 larger(__half2 most, uint4 v)
{
    most = __hmax2(__hmax2(most, __habs2(as_pair(v.x))), __habs2(as_pair(v.y)));
    return __hmax2(__hmax2(most, __habs2(as_pair(v.z))), __habs2(as_pair(v.w)));
}

// The largest of a row's values, none below 0, so that their bits are in the order of whole numbers. The row is that of `lanes`
// neighbors (4 to 32), or of the block where `lanes` is more.
__device__ __forceinline__ float row_max(float value, int lanes)
{
    __shared__ unsigned part[MOST / 32];
    unsigned bits = __float_as_uint(value);
    if (lanes < 32) {
        for (int distance = lanes / 2; distance > 0; distance /= 2) {
            bits = max(bits, __shfl_xor_sync(FULL_MASK, bits, distance));
        }
        return __uint_as_float(bits);
    }
    bits = __reduce_max_sync(FULL_MASK, bits);
    if (lanes > 32) {
        if (threadIdx.x % 32 == 0) {
            part[threadIdx.x / 32] = bits;
        }
        __syncthreads();
        bits = __reduce_max_sync(FULL_MASK, threadIdx.x % 32 < blockDim.x / 32 ? part[threadIdx.x % 32] : 0);
    }
    return __uint_as_float(bits);
}

extern "C" __global__ void __launch_bounds__(MOST, 2)
    quantize_rows(const __half* __restrict__ x, unsigned char* __restrict__ y_codes, float* __restrict__ y_scales, int rows,
                  int columns)
{
    // Few lanes for a short row, so that each has several loads on their way.
    const int lanes = columns > 1024 ? blockDim.x : columns > 512 ? 32 : columns > 256 ? 16 : columns > 128 ? 8 : 4;
    const int lane = columns > 1024 ? threadIdx.x : threadIdx.x % lanes;
    const long long row = columns > 1024 ? blockIdx.x : (long long)blockIdx.x * (128 / lanes) + threadIdx.x / lanes;
    const int count = row < rows ? columns : 0;  // all threads stay for the shuffles
    const int eighths = columns % 8 == 0 ? count / 8 : 0;
    const __half* from = x + row * columns;
    unsigned char* to = y_codes + row * columns;
    const uint4* wide = reinterpret_cast<const uint4*>(from);

    uint4 held[EACH];
#pragma unroll
    for (int j = 0; j < EACH; j++) {
        const int i = lane + j * lanes;
        held[j] = i < eighths ? __ldcs(wide + i) : make_uint4(0, 0, 0, 0);
    }
    __half2 most2 = __float2half2_rn(0.0f);
#pragma unroll
    for (int j = 0; j < EACH; j++) {
        most2 = larger(most2, held[j]);
    }
    for (int i = lane + EACH * lanes; i < eighths; i += lanes) {
        most2 = larger(most2, wide[i]);
    }
    float most = fmaxf(__low2float(most2), __high2float(most2));
    for (int i = 8 * eighths + lane; i < count; i += lanes) {
        most = fmaxf(most, fabsf(__half2float(from[i])));
    }

    most = row_max(most, lanes);
    const float scale = most < INFINITY ? divided(most, 448.0f, 1.0f / 448.0f) : INFINITY;
    // Beside an infinity the scale is infinite and inverse 0: numbers become 0, and it NaN, whatever number is the divisor.
    const float inverse = reciprocal(scale), divisor = scale < INFINITY ? scale : 1.0f;
    if (lane == 0 && row < rows) {
        y_scales[row] = scale;
    }
#pragma unroll
    for (int j = 0; j < EACH; j++) {
        const int i = lane + j * lanes;
        if (i < eighths) {
            __stcs(reinterpret_cast<uint2*>(to) + i, scale == 0.0f ? make_uint2(0, 0) : eight_codes(held[j], divisor, inverse));
        }
    }
    for (int i = lane + EACH * lanes; i < eighths; i += lanes) {
        reinterpret_cast<uint2*>(to)[i] = scale == 0.0f ? make_uint2(0, 0) : eight_codes(wide[i], divisor, inverse);
    }
    for (int i = 8 * eighths + lane; i < count; i += lanes) {
        to[i] = scale == 0.0f ? 0 : e4m3x2(divided(__half2float(from[i]), divisor, inverse), 0.0f);
    }
}

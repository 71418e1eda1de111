// Against the rung before: fewer instructions. Eight lanes a group, two loads each, so a scale is made for sixteen numbers and
// three shuffles serve four groups; a product and two fused multiply-adds in place of each division; and where 128 divides the
// columns, groups are counted over the whole tensor, with no row to be found.
#include "lab.cuh"
#include <cuda_fp16.h>

// y_scales[row][g] = the largest magnitude of the row's columns 128 g to 128 g + 127, / 448; y_codes = the E4M3 codes of x / scale.
// A row's last group may be short. A group of zeros has scale 0 and codes 0.
// lockstep: block = THREADS
// lockstep: grid = ceil_div(rows * ceil_div(columns, 128), THREADS / 8 * GROUPS)
#define THREADS 256
#define GROUPS 1  // for each eight lanes; they are all loaded before the first is worked on

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

// The scale of a group whose magnitudes this lane knows in part, from all eight lanes.
__device__ __forceinline__ float scale_of(float most)
{
#pragma unroll
    for (int distance = 4; distance > 0; distance /= 2) {
        most = fmaxf(most, __shfl_xor_sync(FULL_MASK, most, distance));
    }
    return most < INFINITY ? divided(most, 448.0f, 1.0f / 448.0f) : INFINITY;
}

// Rows of any length, a group at a time; `wide` where 8 divides the columns.
__device__ void one_group(const __half* x, unsigned char* y_codes, float* y_scales, long long group, int rows, int columns,
                          bool wide)
{
    const int groups = ceil_div(columns, 128), lane = threadIdx.x % 8;
    const bool there = group < (long long)rows * groups;  // all 32 lanes stay for the shuffles
    const long long row = there ? group / groups : 0;
    const int column = int(group - row * groups) * 128;
    const int count = there ? least(128, columns - column) : 0;
    const int eighths = wide ? count / 8 : 0;
    const __half* from = x + row * columns + column;
    unsigned char* to = y_codes + row * columns + column;

    uint4 held[2];
    __half2 most2 = __float2half2_rn(0.0f);
#pragma unroll
    for (int j = 0; j < 2; j++) {
        const int i = lane + 8 * j;
        held[j] = i < eighths ? __ldcs(reinterpret_cast<const uint4*>(from) + i) : make_uint4(0, 0, 0, 0);
        most2 = larger(most2, held[j]);
    }
    float most = fmaxf(__low2float(most2), __high2float(most2));
    for (int i = 8 * eighths + lane; i < count; i += 8) {
        most = fmaxf(most, fabsf(__half2float(from[i])));
    }
    const float scale = scale_of(most);
    // Beside an infinity the scale is infinite and inverse 0: numbers become 0, and it NaN, whatever number is the divisor.
    const float inverse = reciprocal(scale), divisor = scale < INFINITY ? scale : 1.0f;
    if (there && lane == 0) {
        y_scales[group] = scale;
    }
#pragma unroll
    for (int j = 0; j < 2; j++) {
        const int i = lane + 8 * j;
        if (i < eighths) {
            __stcs(reinterpret_cast<uint2*>(to) + i, scale == 0.0f ? make_uint2(0, 0) : eight_codes(held[j], divisor, inverse));
        }
    }
    for (int i = 8 * eighths + lane; i < count; i += 8) {
        to[i] = scale == 0.0f ? 0 : e4m3x2(divided(__half2float(from[i]), divisor, inverse), 0.0f);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    quantize_groups(const __half* __restrict__ x, unsigned char* __restrict__ y_codes, float* __restrict__ y_scales, int rows,
                    int columns)
{
    const long long first = (long long)blockIdx.x * (THREADS / 8 * GROUPS) + threadIdx.x / 8;
    if (columns % 128 != 0) {
        for (int g = 0; g < GROUPS; g++) {
            one_group(x, y_codes, y_scales, first + g * (THREADS / 8), rows, columns, columns % 8 == 0);
        }
        return;
    }
    const long long all = (long long)rows * (columns / 128);
    const int lane = threadIdx.x % 8;
    uint4 held[GROUPS][2];
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        const long long group = first + g * (THREADS / 8);
#pragma unroll
        for (int j = 0; j < 2; j++) {
            const uint4* from = reinterpret_cast<const uint4*>(x) + 16 * group + lane + 8 * j;
            held[g][j] = group < all ? __ldcs(from) : make_uint4(0, 0, 0, 0);
        }
    }
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        const long long group = first + g * (THREADS / 8);
        const __half2 most2 = larger(larger(__float2half2_rn(0.0f), held[g][0]), held[g][1]);
        const float scale = scale_of(fmaxf(__low2float(most2), __high2float(most2)));
        const float inverse = reciprocal(scale), divisor = scale < INFINITY ? scale : 1.0f;  // as in one_group
        if (group < all) {
            if (lane == 0) {
                y_scales[group] = scale;
            }
#pragma unroll
            for (int j = 0; j < 2; j++) {
                __stcs(reinterpret_cast<uint2*>(y_codes) + 16 * group + lane + 8 * j,
                       scale == 0.0f ? make_uint2(0, 0) : eight_codes(held[g][j], divisor, inverse));
            }
        }
    }
}

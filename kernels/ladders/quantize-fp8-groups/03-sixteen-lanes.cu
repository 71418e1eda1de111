// Against the rung before: sixteen lanes a group, eight numbers each: one load of 16 bytes, one store of 8, four shuffles for two
// groups, and one instruction that rounds two numbers. Where 8 does not divide the columns, numbers come one by one.
#include "lab.cuh"
#include <cuda_fp16.h>

// y_scales[row][g] = the largest magnitude of the row's columns 128 g to 128 g + 127, / 448; y_codes = the E4M3 codes of x / scale.
// A row's last group may be short. A group of zeros has scale 0 and codes 0.
// lockstep: block = THREADS
// lockstep: grid = ceil_div(rows * ceil_div(columns, 128), THREADS / 16)
#define THREADS 256

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

// Eight codes of eight halves / scale.
__device__ __forceinline__ uint2 eight_codes(uint4 v, float scale)
{
    const float2 a = __half22float2(as_pair(v.x)), b = __half22float2(as_pair(v.y));
    const float2 c = __half22float2(as_pair(v.z)), d = __half22float2(as_pair(v.w));
    return make_uint2(e4m3x2(a.x / scale, a.y / scale) | e4m3x2(b.x / scale, b.y / scale) << 16,
                      e4m3x2(c.x / scale, c.y / scale) | e4m3x2(d.x / scale, d.y / scale) << 16);
}

// The larger magnitude of eight halves and `most`, in each half. Of a number and a NaN it is the number.
__device__ __forceinline__ __half2 larger(__half2 most, uint4 v)
{
    most = __hmax2(__hmax2(most, __habs2(as_pair(v.x))), __habs2(as_pair(v.y)));
    return __hmax2(__hmax2(most, __habs2(as_pair(v.z))), __habs2(as_pair(v.w)));
}

extern "C" __global__ void __launch_bounds__(THREADS)
    quantize_groups(const __half* __restrict__ x, unsigned char* __restrict__ y_codes, float* __restrict__ y_scales, int rows,
                    int columns)
{
    const int groups = ceil_div(columns, 128);  // in each row
    const long long group = (long long)blockIdx.x * (THREADS / 16) + threadIdx.x / 16;
    const bool there = group < (long long)rows * groups;  // all 32 lanes stay for the shuffles
    const long long row = there ? group / groups : 0;
    const int column = int(group % groups) * 128, lane = threadIdx.x % 16;
    const int count = there ? least(128, columns - column) : 0;
    const bool wide = columns % 8 == 0;
    const __half* from = x + row * columns + column;
    unsigned char* to = y_codes + row * columns + column;

    uint4 held = make_uint4(0, 0, 0, 0);
    if (wide && 8 * lane < count) {
        held = reinterpret_cast<const uint4*>(from)[lane];
    }
    const __half2 most2 = larger(__float2half2_rn(0.0f), held);
    float most = fmaxf(__low2float(most2), __high2float(most2));
    for (int i = wide ? count : lane; i < count; i += 16) {
        most = fmaxf(most, fabsf(__half2float(from[i])));
    }
#pragma unroll
    for (int distance = 8; distance > 0; distance /= 2) {
        most = fmaxf(most, __shfl_xor_sync(FULL_MASK, most, distance));
    }
    const float scale = most / 448.0f;
    if (there && lane == 0) {
        y_scales[group] = scale;
    }
    if (wide && 8 * lane < count) {
        reinterpret_cast<uint2*>(to)[lane] = scale == 0.0f ? make_uint2(0, 0) : eight_codes(held, scale);
    }
    for (int i = wide ? count : lane; i < count; i += 16) {
        to[i] = scale == 0.0f ? 0 : e4m3x2(__half2float(from[i]) / scale, 0.0f);
    }
}

#include "lab.cuh"
#include <cuda_bf16.h>

// One block a row. Rows of up to 16,384 elements are loaded once, 16 bytes at a time, and stay in registers until their
// codes are stored, 8 at a time. Longer rows, and rows whose length is no multiple of 8, are read twice.
// lockstep: block = min(512, round_up(ceil_div(columns, 8), 32))
// lockstep: grid = rows

__device__ __nv_bfloat162 as_pair(unsigned word)
{
    return *reinterpret_cast<const __nv_bfloat162*>(&word);
}

// x / scale as IEEE division rounds it, with inverse = 1 / scale: a product, and what it was off by.
__device__ float divided(float x, float scale, float inverse)
{
    const float guess = x * inverse;
    return fmaf(-fmaf(guess, scale, -x), inverse, guess);
}

#if __CUDA_ARCH__ < 890
// In whole-number arithmetic; NVIDIA's header goes through double here, which most GPUs do slowly. No NaN comes in, and
// nothing above 448.
__device__ unsigned e4m3(float value)
{
    const unsigned bits = __float_as_uint(value);
    const unsigned magnitude = bits & 0x7fffffff;
    const unsigned normal = ((magnitude + 0x7ffff + ((magnitude >> 20) & 1)) >> 20) - (127 - 7) * 8;
    // Beside 2^14 the last bit of a float is 2^-9, the step of the subnormals.
    const unsigned subnormal = __float_as_uint(fabsf(value) + 16384.0f) - __float_as_uint(16384.0f);
    return (magnitude < __float_as_uint(0.015625f) ? subnormal : normal) | (bits >> 31 << 7);
}
#endif

// The codes of two floats, that of `low` in the low byte.
__device__ unsigned e4m3x2(float low, float high)
{
#if __CUDA_ARCH__ >= 890
    unsigned short codes;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(high), "f"(low));
    return codes;
#else
    return e4m3(low) | e4m3(high) << 8;
#endif
}

// The largest of all threads' magnitudes, none below 0: their bits are in the order of whole numbers.
__device__ float block_max(float value)
{
    __shared__ unsigned part[32];
    const unsigned of_warp = __reduce_max_sync(FULL_MASK, __float_as_uint(value));
    if (threadIdx.x % 32 == 0) {
        part[threadIdx.x / 32] = of_warp;
    }
    __syncthreads();
    const unsigned mine = threadIdx.x % 32 < blockDim.x / 32 ? part[threadIdx.x % 32] : 0;
    return __uint_as_float(__reduce_max_sync(FULL_MASK, mine));
}

// A row of at most EIGHTS * 8 elements a thread.
template <int EIGHTS>
__device__ void held(const uint4* from, uint2* to, float* scale, int eights)
{
    uint4 v[EIGHTS];
    __nv_bfloat162 most2 = __float2bfloat162_rn(0.0f);
#pragma unroll
    for (int k = 0; k < EIGHTS; k++) {
        const int i = threadIdx.x + k * blockDim.x;
        v[k] = i < eights ? __ldcs(from + i) : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (int k = 0; k < EIGHTS; k++) {
        most2 = __hmax2(__hmax2(most2, __habs2(as_pair(v[k].x))), __habs2(as_pair(v[k].y)));
        most2 = __hmax2(__hmax2(most2, __habs2(as_pair(v[k].z))), __habs2(as_pair(v[k].w)));
    }
    const float of_row = block_max(fmaxf(__low2float(most2), __high2float(most2))) / 448.0f;
    if (threadIdx.x == 0) {
        *scale = of_row;
    }
    const float divisor = of_row == 0.0f ? 1.0f : of_row;  // then all elements are 0 as well
    const float inverse = 1.0f / divisor;
#pragma unroll
    for (int k = 0; k < EIGHTS; k++) {
        const int i = threadIdx.x + k * blockDim.x;
        if (i < eights) {
            const unsigned words[4] = {v[k].x, v[k].y, v[k].z, v[k].w};
            unsigned pairs[4];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const float2 two = __bfloat1622float2(as_pair(words[j]));
                pairs[j] = e4m3x2(divided(two.x, divisor, inverse), divided(two.y, divisor, inverse));
            }
            __stcs(to + i, make_uint2(pairs[0] | pairs[1] << 16, pairs[2] | pairs[3] << 16));
        }
    }
}

extern "C" __global__ void __launch_bounds__(512)
    quantize_rows(const __nv_bfloat16* __restrict__ x, unsigned char* __restrict__ codes, float* __restrict__ scale, int rows, int columns)
{
    const __nv_bfloat16* from = x + (long long)blockIdx.x * columns;
    unsigned char* to = codes + (long long)blockIdx.x * columns;
    const int each = ceil_div(columns, 8 * (int)blockDim.x);  // loads a thread
    if (columns % 8 == 0 && each <= 4) {
        const uint4* from8 = reinterpret_cast<const uint4*>(from);
        uint2* to8 = reinterpret_cast<uint2*>(to);
        if (each <= 1) {
            held<1>(from8, to8, scale + blockIdx.x, columns / 8);
        } else if (each <= 2) {
            held<2>(from8, to8, scale + blockIdx.x, columns / 8);
        } else {
            held<4>(from8, to8, scale + blockIdx.x, columns / 8);
        }
        return;
    }
    float most = 0.0f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        most = fmaxf(most, fabsf(__bfloat162float(from[i])));
    }
    const float of_row = block_max(most) / 448.0f;
    if (threadIdx.x == 0) {
        scale[blockIdx.x] = of_row;
    }
    const float divisor = of_row == 0.0f ? 1.0f : of_row;
    const float inverse = 1.0f / divisor;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        to[i] = e4m3x2(divided(__bfloat162float(from[i]), divisor, inverse), 0.0f);
    }
}

// Against the rung before: eight numbers a thread and load, 16 bytes in and 8 bytes out.
// Where 8 does not divide the columns, rows begin anywhere and numbers come one by one.
#include "lab.cuh"
#include <cuda_fp16.h>

// y_scales[row] = the largest magnitude of the row / 127, y_codes = x / y_scales[row], rounded to the nearest whole number. A row
// of zeros has scale 0 and codes 0.
// lockstep: block = THREADS
// lockstep: grid = rows
#define THREADS 256

// The code of x / scale: the nearest whole number, ties to even. NaN, and what a scale of 0 makes of everything, is 0.
__device__ int int8(float x, float scale)
{
    return __float2int_rn(x / scale);
}

__device__ __forceinline__ __half2 as_pair(unsigned word)
{
    return *reinterpret_cast<const __half2*>(&word);
}

// Eight codes of eight halves / scale.
__device__ __forceinline__ uint2 eight_codes(uint4 v, float scale)
{
    const unsigned words[4] = {v.x, v.y, v.z, v.w};
    unsigned packed[2] = {0, 0};
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const float2 two = __half22float2(as_pair(words[j]));
        const unsigned low = int8(two.x, scale) & 255, high = int8(two.y, scale) & 255;
        packed[j / 2] |= (low | high << 8) << (16 * (j % 2));
    }
    return make_uint2(packed[0], packed[1]);
}

// The larger magnitude of eight halves and `most`, in each half. Of a number and a NaN it is the number.
__device__ __forceinline__ __half2 larger(__half2 most, uint4 v)
{
    most = __hmax2(__hmax2(most, __habs2(as_pair(v.x))), __habs2(as_pair(v.y)));
    return __hmax2(__hmax2(most, __habs2(as_pair(v.z))), __habs2(as_pair(v.w)));
}

// The largest of all threads' values, in every thread.
__device__ float block_max(float value)
{
    __shared__ float part[THREADS / 32];
    for (int distance = 16; distance > 0; distance /= 2) {
        value = fmaxf(value, __shfl_xor_sync(FULL_MASK, value, distance));
    }
    if (threadIdx.x % 32 == 0) {
        part[threadIdx.x / 32] = value;
    }
    __syncthreads();
    value = part[0];
    for (int warp = 1; warp < THREADS / 32; warp++) {
        value = fmaxf(value, part[warp]);
    }
    return value;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    quantize_int8(const __half* __restrict__ x, signed char* __restrict__ y_codes, float* __restrict__ y_scales, int rows,
                  int columns)
{
    const __half* from = x + (long long)blockIdx.x * columns;
    signed char* to = y_codes + (long long)blockIdx.x * columns;
    const uint4* wide = reinterpret_cast<const uint4*>(from);
    const int eighths = columns % 8 == 0 ? columns / 8 : 0;

    __half2 most2 = __float2half2_rn(0.0f);
    for (int i = threadIdx.x; i < eighths; i += THREADS) {
        most2 = larger(most2, wide[i]);
    }
    float most = fmaxf(__low2float(most2), __high2float(most2));
    for (int i = 8 * eighths + threadIdx.x; i < columns; i += THREADS) {
        most = fmaxf(most, fabsf(__half2float(from[i])));
    }
    const float scale = block_max(most) / 127.0f;
    if (threadIdx.x == 0) {
        y_scales[blockIdx.x] = scale;
    }

    for (int i = threadIdx.x; i < eighths; i += THREADS) {
        reinterpret_cast<uint2*>(to)[i] = eight_codes(wide[i], scale);
    }
    for (int i = 8 * eighths + threadIdx.x; i < columns; i += THREADS) {
        to[i] = int8(__half2float(from[i]), scale);
    }
}

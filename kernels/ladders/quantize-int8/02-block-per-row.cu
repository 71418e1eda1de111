// Against the rung before: one block a row, so neighboring lanes have neighboring numbers, and the second read of the row is from
// the cache.
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

extern "C" __global__ void quantize_int8(const __half* x, signed char* y_codes, float* y_scales, int rows, int columns)
{
    const __half* from = x + (long long)blockIdx.x * columns;
    signed char* to = y_codes + (long long)blockIdx.x * columns;

    float most = 0.0f;
    for (int i = threadIdx.x; i < columns; i += THREADS) {
        most = fmaxf(most, fabsf(__half2float(from[i])));
    }
    const float scale = block_max(most) / 127.0f;
    if (threadIdx.x == 0) {
        y_scales[blockIdx.x] = scale;
    }

    for (int i = threadIdx.x; i < columns; i += THREADS) {
        to[i] = int8(__half2float(from[i]), scale);
    }
}

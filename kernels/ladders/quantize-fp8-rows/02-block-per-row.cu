// Against the rung before: one block a row, so neighboring lanes have neighboring numbers, and the second read of the row is from
// the cache.
#include "lab.cuh"
#include <cuda_fp16.h>

// y_scales[row] = the largest magnitude of the row / 448, y_codes = the E4M3 codes of x / y_scales[row]. A row of zeros has
// scale 0 and codes 0.
// lockstep: block = THREADS
// lockstep: grid = rows
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

extern "C" __global__ void quantize_rows(const __half* x, unsigned char* y_codes, float* y_scales, int rows, int columns)
{
    const __half* from = x + (long long)blockIdx.x * columns;
    unsigned char* to = y_codes + (long long)blockIdx.x * columns;

    float most = 0.0f;
    for (int i = threadIdx.x; i < columns; i += THREADS) {
        most = fmaxf(most, fabsf(__half2float(from[i])));
    }
    const float scale = block_max(most) / 448.0f;
    if (threadIdx.x == 0) {
        y_scales[blockIdx.x] = scale;
    }

    for (int i = threadIdx.x; i < columns; i += THREADS) {
        to[i] = scale == 0.0f ? 0 : e4m3(__half2float(from[i]) / scale);
    }
}

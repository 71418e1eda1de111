// One thread a row, twice along it: neighboring lanes are a whole row apart, so every load and store of a warp touches 32 sectors.
#include "lab.cuh"
#include <cuda_fp16.h>

// y_scales[row] = the largest magnitude of the row / 127, y_codes = x / y_scales[row], rounded to the nearest whole number. A row
// of zeros has scale 0 and codes 0.
// lockstep: block = 32
// lockstep: grid = ceil_div(rows, block_x)

// The code of x / scale: the nearest whole number, ties to even. NaN, and what a scale of 0 makes of everything, is 0.
__device__ int int8(float x, float scale)
{
    return __float2int_rn(x / scale);
}

extern "C" __global__ void quantize_int8(const __half* x, signed char* y_codes, float* y_scales, int rows, int columns)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) {
        return;
    }
    const __half* from = x + (long long)row * columns;
    signed char* to = y_codes + (long long)row * columns;

    float most = 0.0f;
    for (int i = 0; i < columns; i++) {
        most = fmaxf(most, fabsf(__half2float(from[i])));
    }
    const float scale = most / 127.0f;
    y_scales[row] = scale;

    for (int i = 0; i < columns; i++) {
        to[i] = int8(__half2float(from[i]), scale);
    }
}

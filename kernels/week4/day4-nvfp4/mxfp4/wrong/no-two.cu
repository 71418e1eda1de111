#include "lab.cuh"

__device__ unsigned one_code(float x)
{
    const float m = fabsf(x);
    const unsigned code = (m > 0.25f) + (m >= 0.75f) + (m > 1.25f) + (m >= 1.75f) + (m > 2.5f) + (m >= 3.5f) + (m > 5.0f);
    return code | (__float_as_uint(x) >> 31) << 3;
}

// MXFP4: e2m1 codes, and for each 32 of them a scale that is a power of two, stored as its exponent plus 127.
// One thread does one block of 32.
extern "C" __global__ void quantize_mxfp4(const float* x, unsigned char* y_codes, unsigned char* y_scales, int n, int k)
{
    const int block = blockIdx.x * blockDim.x + threadIdx.x;
    if (block >= n * (k / 32)) {
        return;
    }
    const float* from = x + (long long)block * 32;
    float largest = 0.0f;
    for (int i = 0; i < 32; i++) {
        largest = fmaxf(largest, fabsf(from[i]));
    }
    const int byte = __float_as_uint(largest) >> 23;

    y_scales[block] = byte;
    const float scale = ldexpf(1.0f, byte - 127);
    for (int j = 0; j < 16; j++) {
        y_codes[(long long)block * 16 + j] = one_code(from[2 * j] / scale) | one_code(from[2 * j + 1] / scale) << 4;
    }
}

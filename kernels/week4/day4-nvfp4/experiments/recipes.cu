#include "lab.cuh"

// Numbers to four bits and back. RECIPE 0: NVFP4. 1: MXFP4. 2: INT4 in groups of 32. 3: INT4 in groups of 128.
#define RECIPE 0

// The nearest of 0, 0.5, 1, 1.5, 2, 3, 4 and 6, with the sign of x.
__device__ float e2m1(float x)
{
    const float m = fabsf(x);
    const float step = m < 2.0f ? 0.5f : m < 4.0f ? 1.0f : 2.0f;
    return copysignf(fminf(rintf(m / step) * step, 6.0f), x);
}

// The nearest number that e4m3 has: 448 at most, steps of 2^-9 near 0.
__device__ float e4m3(float x)
{
    const float step = x < 0.015625f ? 0.001953125f : __uint_as_float((__float_as_uint(x) & 0x7f800000u) - (3 << 23));
    return fminf(rintf(x / step) * step, 448.0f);
}

extern "C" __global__ void round_trip(const float* x, float* y)
{
    __shared__ float magnitude[256];
    const long long i = (long long)blockIdx.x * 256 + threadIdx.x;
    const float value = x[i];
    magnitude[threadIdx.x] = fabsf(value);
    __syncthreads();
    const int group = RECIPE == 0 ? 16 : RECIPE == 3 ? 128 : 32;
    float largest = 0.0f;
    for (int j = 0; j < group; j++) {
        largest = fmaxf(largest, magnitude[threadIdx.x / group * group + j]);
    }
    //@ recipes
    float scale, code;
    if (RECIPE == 0) {
        scale = e4m3(largest / 6.0f);
        code = e2m1(value / scale);
    } else if (RECIPE == 1) {
        scale = exp2f(floorf(log2f(largest)) - 2.0f);
        code = e2m1(value / scale);
    } else {
        scale = largest / 7.0f;
        code = rintf(value / scale);
    }
    y[i] = code * scale;
    //@ end
}

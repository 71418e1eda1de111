#include "lab.cuh"

// codes[i] = x[i] / scale[0], rounded to nearest even, between -128 and 127.
extern "C" __global__ void to_int8(const float* x, const float* scale, signed char* codes, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        codes[i] = (int)fminf(fmaxf(rintf(x[i] / scale[0]), -128.0f), 127.0f);
    }
}

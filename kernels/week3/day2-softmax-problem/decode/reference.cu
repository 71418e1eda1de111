#include "lab.cuh"

// y = the value of each e5m2 code: one bit of sign, five of exponent, two of fraction.
extern "C" __global__ void decode(const unsigned char* codes, float* y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const int sign = codes[i] >> 7;
        const int exponent = codes[i] >> 2 & 31;
        const int fraction = codes[i] & 3;
        float value = ldexpf(1.0f + fraction / 4.0f, exponent - 15);
        if (exponent == 0) {
            value = ldexpf(fraction / 4.0f, -14);  // subnormal: no leading 1
        }
        if (exponent == 31) {
            value = fraction == 0 ? INFINITY : NAN;
        }
        y[i] = sign ? -value : value;
    }
}

#include "lab.cuh"

// The code of e2m1 that is nearest to x: the sign in bit 3, and in bits 0 to 2 the number of a magnitude in
// 0, 0.5, 1, 1.5, 2, 3, 4, 6. Of two equally near codes the even one.
__device__ unsigned one_code(float x)
{
    const float m = fabsf(x);
    const unsigned code = (m > 0.25f) + (m >= 0.75f) + (m > 1.25f) + (m >= 1.75f) + (m > 2.5f) + (m >= 3.5f) + (m > 5.0f);
    return code | (__float_as_uint(x) >> 31) << 3;
}

// Two codes to a byte, the even column in the low half. One thread does one byte.
// The scales are all 1 here, and not needed.
extern "C" __global__ void round_e2m1(const float* x, unsigned char* y_codes, const unsigned char* ones, int n)
{
    const int byte = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * byte < n) {
        const float low = x[2 * byte];
        const float high = 2 * byte + 1 < n ? x[2 * byte + 1] : 0.0f;
        y_codes[byte] = one_code(low) | one_code(high) << 4;
    }
}

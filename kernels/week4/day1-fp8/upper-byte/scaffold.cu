#include "lab.cuh"
#include <cuda_fp16.h>

// codes[i] = the E5M2 code of x[i]. FP16 has the same sign and exponent, and eight more fraction bits.
extern "C" __global__ void to_e5m2(const __half* x, unsigned char* codes, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const unsigned bits = __half_as_ushort(x[i]);
        const unsigned sign = bits >> 15;
        unsigned magnitude = bits & 0x7fff;
        unsigned code;
        if (magnitude > 0x7c00) {
            code = 0x7f;  // NaN: the exponent field is full, the fraction is not 0
            codes[i] = code;
            return;
        }
        // TODO: this cuts the lower byte off. Round to nearest, and ties to the even code: one line.

        code = magnitude >> 8;
        if (code > 0x7b) {
            code = 0x7b;  // saturate at 57,344: infinity, and what rounds to it
        }
        codes[i] = sign << 7 | code;
    }
}

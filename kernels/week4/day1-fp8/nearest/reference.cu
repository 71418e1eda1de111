#include "lab.cuh"

// codes[i] = the E4M3 code of x[i]. All inputs are finite, none is above 448.
extern "C" __global__ void to_e4m3(const float* x, unsigned char* codes, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float magnitude = fabsf(x[i]);
        // 2^exponent <= magnitude < 2^(exponent + 1), and -6 for everything below 2^-6.
        const int exponent = magnitude < 0.015625f ? -6 : ilogbf(magnitude);
        const float step = ldexpf(1.0f, exponent - 3);  // from one code to the next
        const float steps = rintf(magnitude / step);
        // 8 to 15 steps are a normal number, fewer a subnormal one. 16 steps are 8 of the next exponent: the code fits.
        const unsigned code = 8 * (exponent + 6) + (unsigned)steps;
        codes[i] = (x[i] < 0.0f ? 0x80 : 0) | code;
    }
}

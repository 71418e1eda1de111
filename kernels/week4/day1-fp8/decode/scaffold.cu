#include "lab.cuh"

// y[i] = what the E4M3 code codes[i] is worth.
extern "C" __global__ void decode_e4m3(const unsigned char* codes, float* y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const unsigned code = codes[i];
        const unsigned sign = code >> 7;
        const unsigned field = code >> 3 & 15;  // 4 bits of exponent
        const unsigned fraction = code & 7;

        // TODO: right for field 1 to 14. What are field 0, and field 15 with fraction 7? (ldexpf(a, b) is a * 2^b.)
        float value = ldexpf(8 + fraction, (int)field - 10);

        y[i] = sign ? -value : value;
    }
}

// Decodes the least numbers with a 1 before the fraction.
// rejected for: wrong_output
// leads to: except where the exponent bits are 0
#include "lab.cuh"
// Decoded by hand, one thread a result.
// lockstep: block = 32, 4
// lockstep: grid = ceil_div(n, 32), ceil_div(m, 4)
__device__ float decode(uint8_t v)
{
    const int exponent = v >> 3 & 15, fraction = v & 7;
    float f;
    if ((v & 0x7f) == 0x7f) f = NAN;
    else f = ldexpf(1.0f + fraction / 8.0f, exponent - 7);
    return v & 0x80 ? -f : f;
}
extern "C" __global__ void mma_bytes(const uint8_t* a, const uint8_t* b, float* c, int m, int n, int k)
{
    const int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 4 + threadIdx.y;
    if (row >= m || col >= n) return;
    float s = 0;
    for (int i = 0; i < k; ++i) s += decode(a[row * k + i]) * decode(b[col * k + i]);
    c[row * n + col] = s;
}

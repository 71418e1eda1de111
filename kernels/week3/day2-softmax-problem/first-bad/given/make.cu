#include "lab.cuh"

// Where `is_bad` is 1, x is NaN or an infinity. Elsewhere it is a finite number.
extern "C" __global__ void make(const unsigned char* is_bad, float* x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const unsigned bad = i % 3 == 0 ? 0x7f800000u : i % 3 == 1 ? 0xff800000u : 0xffc00000u + i % 7;
        const unsigned good = i % 5 == 0 ? 0x7f7fffffu : __float_as_uint(i % 1000 - 500.0f);
        x[i] = __uint_as_float(is_bad[i] != 0 ? bad : good);
    }
}

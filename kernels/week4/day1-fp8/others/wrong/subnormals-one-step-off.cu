// Shifts subnormals by one too few.
// rejected for: wrong_output
// leads to: 2^-9
#include "lab.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// lockstep: block = 128
// lockstep: grid = 24
template <int EXP, int FRAC>
__device__ __forceinline__ unsigned char encode(float v)
{
    constexpr int bias = (1 << (EXP - 1)) - 1;
    const unsigned u = __float_as_uint(v);
    unsigned a = u & 0x7fffffffu;
    unsigned c;
    if (a > 0x7f800000u) c = 0x7f;
    else if (a >= 0x43e80000u) c = 0x7e;
    else {
        int e = (int)(a >> 23) - 127;
        unsigned m = (a & 0x7fffffu) | (e == -127 ? 0u : 0x800000u);
        int shift = 23 - FRAC;
        if (e < 1 - bias) shift += -bias - e;
        if (shift > 25) shift = 25;
        const unsigned keep = m >> shift;
        const unsigned rest = m & ((1u << shift) - 1), half = 1u << (shift - 1);
        unsigned r = keep + (rest > half || (rest == half && (keep & 1)));
        c = e < 1 - bias ? r : r + ((unsigned)(e + bias - 1) << FRAC);
    }
    return (unsigned char)(c | (u >> 24 & 0x80));
}
extern "C" __global__ void to_e4m3(const __half* x, const __nv_bfloat16* scale, unsigned char* codes, int rows, int columns)
{
    const size_t n = (size_t)rows * columns;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        codes[i] = encode<4, 3>(__half2float(x[i]) / __bfloat162float(scale[i / columns]));
}

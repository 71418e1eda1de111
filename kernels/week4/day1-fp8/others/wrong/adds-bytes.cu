// Shifts a signed char, and its sign runs into the other bytes.
// rejected for: wrong_output
// leads to: sign
#include "lab.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
// lockstep: block = 128
// lockstep: grid = ceil_div(ceil_div(columns, 4), 128), rows
extern "C" __global__ void to_e4m3(const __half* x, const __nv_bfloat16* scale, unsigned char* codes, int rows, int columns)
{
    const int c = 4 * (blockIdx.x * 128 + threadIdx.x);
    const int row = blockIdx.y;
    if (c >= columns) return;
    x += (size_t)row * columns + c;
    codes += (size_t)row * columns + c;
    const float s = __bfloat162float(scale[row]);
    if (columns % 4 == 0) {
        const uint2 raw = *(const uint2*)x;
        const __half* h = (const __half*)&raw;
        unsigned word = 0;
        for (int k = 0; k < 4; ++k)
            word |= (unsigned)(int)(signed char)__nv_cvt_float_to_fp8(__half2float(h[k]) / s, __NV_SATFINITE, __NV_E4M3) << (8 * k);
        *(unsigned*)codes = word;
    } else {
        for (int k = 0; k < 4 && c + k < columns; ++k)
            codes[k] = __nv_cvt_float_to_fp8(__half2float(x[k]) / s, __NV_SATFINITE, __NV_E4M3);
    }
}

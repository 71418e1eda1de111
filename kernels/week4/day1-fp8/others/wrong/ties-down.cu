// Adds one less than half of a step: every tie goes down.
// rejected for: wrong_output
// leads to: a tie to the even code
#include "lab.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
// lockstep: block = 256
// lockstep: grid = ceil_div(rows * columns, block_x)
__device__ unsigned e4m3(float value)
{
    const unsigned bits = __float_as_uint(value);
    const unsigned sign = bits >> 31;
    const unsigned magnitude = bits & 0x7fffffff;
    unsigned code;
    if (magnitude > 0x7f800000) return 0x7f;
    if (magnitude >= 0x43e80000) code = 0x7e;
    else if (magnitude < 0x3c800000) code = (unsigned)rintf(fabsf(value) * 512.0f);
    else code = ((magnitude + 0x7ffff) >> 20) - (120 << 3);
    return sign << 7 | code;
}
extern "C" __global__ void to_e4m3(const __half* x, const __nv_bfloat16* scale, unsigned char* codes, int rows, int columns)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (long long)rows * columns) codes[i] = e4m3(__half2float(x[i]) / __bfloat162float(scale[i / columns]));
}

// One number a thread: 2 bytes in, 1 byte out, a division, and rounding by whole numbers.
#include "lab.cuh"
#include <cuda_fp16.h>

// y_codes = the E4M3 codes of x / scale, with one scale for the whole tensor.
// lockstep: block = 256
// lockstep: grid = ceil_div(rows * columns, block_x)

// The E4M3 code of a float, in whole numbers: sign, 4 exponent bits, 3 fraction bits. To nearest, ties to even, 448 at most.
__device__ unsigned e4m3(float value)
{
    const unsigned bits = __float_as_uint(value);
    const unsigned magnitude = bits & 0x7fffffff;
    unsigned code = 0x7f;  // NaN
    if (magnitude < __float_as_uint(0.015625f)) {
        // Beside 2^14 the last bit of a float counts 2^-9, the step of E4M3's subnormals.
        code = __float_as_uint(fabsf(value) + 16384.0f) - __float_as_uint(16384.0f);
    } else if (magnitude < __float_as_uint(464.0f)) {
        code = ((magnitude + 0x7ffff + (magnitude >> 20 & 1)) >> 20) - (127 - 7) * 8;
    } else if (magnitude <= 0x7f800000) {
        code = 0x7e;
    }
    return magnitude <= 0x7f800000 ? code | bits >> 31 << 7 : code;
}

extern "C" __global__ void quantize_fp8(const __half* x, const float* scale, unsigned char* y_codes, int rows, int columns)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (long long)rows * columns) {
        y_codes[i] = e4m3(__half2float(x[i]) / *scale);
    }
}

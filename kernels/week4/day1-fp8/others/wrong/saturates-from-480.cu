// Lets what rounds to 480 through.
// rejected for: wrong_output
// leads to: 464
#include "lab.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// codes[row][i] = the E4M3 code of x[row][i] / scale[row].
// lockstep: block = 256
// lockstep: grid = ceil_div(rows * columns, block_x)

// The E4M3 code of a float: sign, 4 exponent bits, 3 fraction bits.
__device__ unsigned e4m3(float value)
{
    const unsigned bits = __float_as_uint(value);
    const unsigned sign = bits >> 31;
    const unsigned magnitude = bits & 0x7fffffff;  // whole numbers in the order of the floats
    unsigned code = 0;

    if (magnitude > 0x7f800000) {  // NaN
        return 0x7f;
    }
    if (magnitude >= __float_as_uint(480.0f)) {
        code = 0x7e;  // 464 is half way to 480, the value that would come after 448, and the code of 448 is even
    } else if (magnitude < __float_as_uint(0.015625f)) {
        // Beside 2^14 the last bit of a float counts 2^-9: the addition rounds to such steps, to nearest even.
        code = __float_as_uint(fabsf(value) + 16384.0f) - __float_as_uint(16384.0f);
    } else {
        code = (magnitude + 0x7ffff + ((magnitude >> 20) & 1)) >> 20;
        code -= (127 - 7) * 8;
    }

    return sign << 7 | code;
}

extern "C" __global__ void to_e4m3(const __half* x, const __nv_bfloat16* scale, unsigned char* codes, int rows, int columns)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (long long)rows * columns) {
        const float of_row = __bfloat162float(scale[i / columns]);
        codes[i] = e4m3(__half2float(x[i]) / of_row);
    }
}

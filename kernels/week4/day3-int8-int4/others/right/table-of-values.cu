// A thread a row, and a table for the sixteen codes.
// does not reach: Whole sectors
// does not reach: The vector once for several rows
// does not reach: The speed of its bytes
#include "lab.cuh"
#include <cuda_fp16.h>

// lockstep: block = 128
// lockstep: grid = ceil_div(n, block_x)
// The sixteen values of a nibble in a table.
__constant__ signed char VALUE[16] = {0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1};
extern "C" __global__ void gemv_int4(const __half* x, const unsigned char* w_codes, const __half* w_scales, float* y, int n, int k)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n) {
        const unsigned char* w = w_codes + (size_t)row * (k / 2);
        const __half* s = w_scales + (size_t)row * ((k + 127) / 128);
        double sum = 0;
        for (int c = 0; c < k; c++) {
            const int nibble = c % 2 == 0 ? w[c / 2] & 15 : w[c / 2] >> 4;
            sum += (double)VALUE[nibble] * (double)__half2float(s[c / 128]) * (double)__half2float(x[c]);
        }
        y[row] = (float)sum;
    }
}

#include "lab.cuh"

// y[row][column] = the code of four bits as a whole number, -8 to 7. Two codes share a byte. One thread does one code.
extern "C" __global__ void unpack(const unsigned char* w_codes, float* y, int n, int k)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * k) {
        return;
    }
    const int row = i / k, column = i % k;
    const unsigned byte = w_codes[row * ceil_div(k, 2) + column / 2];

    const int code = byte >> (column % 2 * 4) & 15;
    y[i] = code;
}

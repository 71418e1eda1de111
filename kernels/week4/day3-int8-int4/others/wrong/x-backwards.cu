// The elements of x from the other end of the word.
// rejected for: wrong_output
// leads to: x[8 * i + j]
#include "lab.cuh"
#include <cuda_fp16.h>

// y[row] = the sum over all columns of weight * x. A weight is a code of 4 bits times the scale of its group.
// lockstep: block = 32 * WARPS
// lockstep: grid = ceil_div(n, WARPS)
#define WARPS 4
#define GROUP 128

extern "C" __global__ void gemv_int4(const half* x, const unsigned char* w_codes, const half* w_scales, float* y, int n, int k)
{
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= n) {
        return;
    }
    // A row has k / 2 bytes. k is a multiple of 32, so they can be read as words of 4 bytes, 8 codes each.
    const unsigned* words = reinterpret_cast<const unsigned*>(w_codes + (long long)row * (k / 2));
    const half* scales = w_scales + (long long)row * ceil_div(k, GROUP);
    float sum = 0.0f;

    for (int i = lane; i < k / 8; i += 32) {
        const unsigned word = words[i];
        float part = 0.0f;
        for (int j = 0; j < 8; j++) {
            const int code = int(word << (28 - 4 * j)) >> 28;
            part += code * __half2float(x[8 * i + 7 - j]);
        }
        sum += part * __half2float(scales[8 * i / GROUP]);
    }

    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(FULL_MASK, sum, distance);
    }
    if (lane == 0) {
        y[row] = sum;
    }
}

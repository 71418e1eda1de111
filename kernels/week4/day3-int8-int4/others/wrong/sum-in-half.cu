// The row's sum is kept in half: what is added to a large sum is rounded away.
// rejected for: precision
// leads to: nearly right
#include "lab.cuh"
#include <cuda_fp16.h>
// lockstep: block = 128
// lockstep: grid = ceil_div(n, 4)
extern "C" __global__ void gemv_int4(const half* x, const unsigned char* w_codes, const half* w_scales, float* y, int n, int k)
{
    int lane = threadIdx.x % 32, row = blockIdx.x * 4 + threadIdx.x / 32;
    if (row >= n) return;
    const unsigned* words = (const unsigned*)(w_codes + (long long)row * (k / 2));
    const half* scales = w_scales + (long long)row * ceil_div(k, 128);
    half sum = __float2half(0.0f);
    for (int i = lane; i < k / 8; i += 32)
        for (int j = 0; j < 8; j++) {
            int code = int(words[i] << (28 - 4 * j)) >> 28;
            sum = __hadd(sum, __float2half(code * __half2float(x[8 * i + j]) * __half2float(scales[8 * i / 128])));
        }
    float total = __half2float(sum);
    for (int d = 16; d > 0; d /= 2) total += __shfl_xor_sync(FULL_MASK, total, d);
    if (lane == 0) y[row] = total;
}

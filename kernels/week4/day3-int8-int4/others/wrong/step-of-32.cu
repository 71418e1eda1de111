// The lanes step by 32 columns: every byte half twice.
// rejected for: wrong_output
// leads to: exactly once
#include "lab.cuh"
#include <cuda_fp16.h>

// lockstep: block = 32, 4
// lockstep: grid = ceil_div(n, block_y)
__device__ __forceinline__ float signed_nibble(unsigned v) { return static_cast<float>(static_cast<int>(v & 15u) - static_cast<int>((v & 8u) << 1)); }
extern "C" __global__ void gemv_int4(const __half* __restrict__ x, const unsigned char* __restrict__ w_codes, const __half* __restrict__ w_scales, float* __restrict__ y, int n, int k)
{
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= n) return;
    const int groups = (k + 127) / 128;
    float sum = 0.f;
    for (int g = 0; g < groups; ++g) {
        const int first = 128 * g, last = min(k, first + 128);
        float part = 0.f;
        for (int c = first + 2 * threadIdx.x; c < last; c += 32) {
            const unsigned b = w_codes[(size_t)row * (k / 2) + c / 2];
            part += signed_nibble(b) * __half2float(x[c]) + signed_nibble(b >> 4) * __half2float(x[c + 1]);
        }
        sum = fmaf(part, __half2float(w_scales[row * groups + g]), sum);
    }
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (threadIdx.x == 0) y[row] = sum;
}

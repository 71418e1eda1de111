// The first code in the highest bits of the word.
// rejected for: wrong_output
// leads to: *low* four bits
#include "lab.cuh"
#include <cuda_fp16.h>

// lockstep: block = 128
// lockstep: grid = ceil_div(n, 4 * ROWS)
#define ROWS 4
extern "C" __global__ void gemv_int4(const __half* __restrict__ x, const unsigned char* __restrict__ w_codes, const __half* __restrict__ w_scales, float* __restrict__ y, int n, int k)
{
    const int lane = threadIdx.x & 31, first = (blockIdx.x * 4 + (threadIdx.x >> 5)) * ROWS;
    float sum[ROWS] = {};
    for (int i = lane; i < k / 8; i += 32) {
        const uint4 raw = reinterpret_cast<const uint4*>(x)[i];
        const __half2* pairs = reinterpret_cast<const __half2*>(&raw);
        float v[8];
        #pragma unroll
        for (int j = 0; j < 4; j++) { const float2 p = __half22float2(pairs[j]); v[2 * j] = p.x; v[2 * j + 1] = p.y; }
        #pragma unroll
        for (int r = 0; r < ROWS; r++) {
            if (first + r >= n) break;
            const unsigned word = reinterpret_cast<const unsigned*>(w_codes)[(long long)(first + r) * (k / 8) + i];
            float part = 0;
            #pragma unroll
            for (int j = 0; j < 8; j++) part += v[j] * (float)((int)(word << (4 * j)) >> 28);
            sum[r] += part * __half2float(w_scales[(long long)(first + r) * ceil_div(k, 128) + i / 16]);
        }
    }
    for (int r = 0; r < ROWS; r++) {
        for (int d = 16; d; d /= 2) sum[r] += __shfl_down_sync(0xffffffff, sum[r], d);
        if (lane == 0 && first + r < n) y[first + r] = sum[r];
    }
}

// Sixteen lanes hold a key of 128, and all 32 load.
// rejected for: wide_access
// leads to: Sixteen lanes hold it
#include "lab.cuh"
#include <cuda_bf16.h>
// lockstep: block = 256
// lockstep: grid = ceil_div(n, 8)
extern "C" __global__ void dot_scores(const __nv_bfloat16* q, const __nv_bfloat16* keys, float* scores, int n, int d)
{
    const int lane = threadIdx.x % 32, key = blockIdx.x * 8 + threadIdx.x / 32;
    if (key >= n) return;
    const __nv_bfloat16* k = keys + (size_t)key * d;
    float sum = 0.0f;
    if (d == 128) { uint4 a = ((const uint4*)q)[lane], b = ((const uint4*)k)[lane]; const __nv_bfloat16* x = (const __nv_bfloat16*)&a; const __nv_bfloat16* y = (const __nv_bfloat16*)&b;
        for (int j = 0; j < 8; j++) sum += __bfloat162float(x[j]) * __bfloat162float(y[j]); }
    else for (int i = lane; i < d; i += 32) sum += __bfloat162float(q[i]) * __bfloat162float(k[i]);
    for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(FULL_MASK, sum, o);
    if (lane == 0) scores[key] = sum;
}

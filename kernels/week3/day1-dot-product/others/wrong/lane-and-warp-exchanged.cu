// Neighboring lanes are given neighboring keys, and the shuffles stay as they were.
// rejected for: mask_misuse
// leads to: threadIdx.x / 32
#include "lab.cuh"
#include <cuda_bf16.h>
// lockstep: block = 256
// lockstep: grid = ceil_div(n, 8)
extern "C" __global__ void dot_scores(const __nv_bfloat16* q, const __nv_bfloat16* keys, float* scores, int n, int d)
{
    const int lane = threadIdx.x / 8, key = blockIdx.x * 8 + threadIdx.x % 8;
    if (key >= n) return;
    const __nv_bfloat16* k = keys + (size_t)key * d;
    float sum = 0.0f;
    for (int i = lane; i < d; i += 32) sum += __bfloat162float(q[i]) * __bfloat162float(k[i]);
    for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(FULL_MASK, sum, o);
    if (lane == 0) scores[key] = sum;
}

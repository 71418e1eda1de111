// A butterfly from 1 to 8: the two halves of the warp never meet.
// rejected for: wrong_output
// leads to: a shuffle is missing
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
    for (int i = lane; i < d; i += 32) sum += __bfloat162float(q[i]) * __bfloat162float(k[i]);
    for (int o = 1; o < 16; o *= 2) sum += __shfl_xor_sync(FULL_MASK, sum, o);
    if (lane == 0) scores[key] = sum;
}

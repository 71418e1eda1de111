// Divides by both lengths: the cosine, not the dot product.
// rejected for: wrong_output
// leads to: divide by no length
#include "lab.cuh"
#include <cuda_bf16.h>
// lockstep: block = 256
// lockstep: grid = ceil_div(n, 8)
extern "C" __global__ void dot_scores(const __nv_bfloat16* q, const __nv_bfloat16* keys, float* scores, int n, int d)
{
    const int lane = threadIdx.x % 32, key = blockIdx.x * 8 + threadIdx.x / 32;
    if (key >= n) return;
    const __nv_bfloat16* k = keys + (size_t)key * d;
    float sum = 0.0f, qq = 0, kk = 0;
    for (int i = lane; i < d; i += 32) { float a = __bfloat162float(q[i]), b = __bfloat162float(k[i]); sum += a * b; qq += a * a; kk += b * b; }
    for (int o = 16; o > 0; o /= 2) { sum += __shfl_xor_sync(FULL_MASK, sum, o); qq += __shfl_xor_sync(FULL_MASK, qq, o); kk += __shfl_xor_sync(FULL_MASK, kk, o); }
    if (lane == 0) scores[key] = sum * rsqrtf(qq) * rsqrtf(kk);
}

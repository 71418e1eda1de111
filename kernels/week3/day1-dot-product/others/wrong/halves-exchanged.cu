// The lower half of the query's word meets the upper half of the key's.
// rejected for: wrong_output
// leads to: with the same i
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
    if (d % 2 == 0) { const unsigned* q2 = (const unsigned*)q; const unsigned* k2 = (const unsigned*)k;
        for (int i = lane; i < d / 2; i += 32) { unsigned a = q2[i], b = k2[i]; sum += __uint_as_float(a << 16) * __uint_as_float(b & 0xffff0000u) + __uint_as_float(a & 0xffff0000u) * __uint_as_float(b << 16); } }
    else for (int i = lane; i < d; i += 32) sum += __bfloat162float(q[i]) * __bfloat162float(k[i]);
    for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(FULL_MASK, sum, o);
    if (lane == 0) scores[key] = sum;
}

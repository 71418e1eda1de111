// Four elements of the query a lane, for every length.
// rejected for: wrong_output
// leads to: hold 128 elements
#include "lab.cuh"
#include <cuda_bf16.h>
// lockstep: block = 256
// lockstep: grid = ceil_div(n, 8)
extern "C" __global__ void dot_scores(const __nv_bfloat16* q, const __nv_bfloat16* keys, float* scores, int n, int d)
{
    const int lane = threadIdx.x % 32, key = blockIdx.x * 8 + threadIdx.x / 32;
    if (key >= n) return;
    const __nv_bfloat16* k = keys + (size_t)key * d;
    float sum = 0.0f; float mine[4]; for (int r = 0; r < 4; r++) mine[r] = lane + 32 * r < d ? __bfloat162float(q[lane + 32 * r]) : 0.f;
    for (int r = 0; r < 4; r++) { int i = lane + 32 * r; if (i < d) sum += mine[r] * __bfloat162float(k[i]); }
    for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(FULL_MASK, sum, o);
    if (lane == 0) scores[key] = sum;
}

// One query against n keys: one warp a key.
//
// lockstep: block = 32 * WARPS
// lockstep: grid = ceil_div(n, WARPS)
//
// Against the rung before: neighboring lanes read neighboring elements, so every sector is used whole; five shuffles add them up.
#include "lab.cuh"
#include <cuda_bf16.h>

#ifndef WARPS
#define WARPS 8
#endif

extern "C" __global__ void dot_scores(const __nv_bfloat16* q, const __nv_bfloat16* keys, float* scores, int n, int d)
{
    int64_t key = static_cast<int64_t>(blockIdx.x) * WARPS + threadIdx.x / 32;
    if (key >= n) return;
    int lane = threadIdx.x % 32;
    float sum = 0.0f;
    for (int i = lane; i < d; i += 32) sum += __bfloat162float(q[i]) * __bfloat162float(keys[key * d + i]);
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(FULL_MASK, sum, distance);
    if (lane == 0) scores[key] = sum;
}

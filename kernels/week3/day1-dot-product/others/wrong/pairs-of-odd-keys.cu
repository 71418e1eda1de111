// Loads pairs although keys may have odd lengths.
// rejected for: misaligned
// leads to: begins in the middle of a pair
#include "lab.cuh"
#include <cuda_bf16.h>

// lockstep: block = 32 * WARPS
// lockstep: grid = ceil_div(n, WARPS)
#define WARPS 8

extern "C" __global__ void dot_scores(const __nv_bfloat16* q, const __nv_bfloat16* keys, float* scores, int n, int d)
{
    const int lane = threadIdx.x % 32;
    const int key = blockIdx.x * WARPS + threadIdx.x / 32;
    if (key >= n) {
        return;  // the whole warp leaves
    }
    float sum = 0.0f;

    const __nv_bfloat162* k2 = reinterpret_cast<const __nv_bfloat162*>(keys + (long long)key * d);
    for (int i = lane; i < d / 2; i += 32) {
        const float2 k = __bfloat1622float2(k2[i]);
        sum += __bfloat162float(q[2 * i]) * k.x + __bfloat162float(q[2 * i + 1]) * k.y;
    }
    if (d % 2 == 1 && lane == 0) {
        sum += __bfloat162float(q[d - 1]) * __bfloat162float(keys[(long long)key * d + d - 1]);
    }

    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(FULL_MASK, sum, distance);
    }

    if (lane == 0) {
        scores[key] = sum;
    }
}

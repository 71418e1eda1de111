// Two keys in a warp, and still five steps.
// rejected for: wrong_output
// leads to: 8, 4, 2, 1
#include "lab.cuh"
#include <cuda_bf16.h>

// lockstep: block = 32 * WARPS
// lockstep: grid = ceil_div(n, 2 * WARPS)
#define WARPS 8

extern "C" __global__ void dot_scores(const __nv_bfloat16* q, const __nv_bfloat16* keys, float* scores, int n, int d)
{
    const int lane = threadIdx.x % 16;
    const int key = blockIdx.x * 2 * WARPS + threadIdx.x / 16;
    float sum = 0.0f;

    for (int i = lane; key < n && i < d; i += 16) {
        sum += __bfloat162float(q[i]) * __bfloat162float(keys[(long long)key * d + i]);
    }

    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(FULL_MASK, sum, distance);
    }

    if (lane == 0 && key < n) {
        scores[key] = sum;
    }
}

// Believes that every key has 128 elements.
// rejected for: wrong_output
// leads to: past its end
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

    for (int i = lane; i < d; i += 32) {
        sum += __bfloat162float(q[i]) * __bfloat162float(keys[(long long)key * 128 + i]);
    }

    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(FULL_MASK, sum, distance);
    }

    if (lane == 0) {
        scores[key] = sum;
    }
}

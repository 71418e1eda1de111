#include "lab.cuh"
#include <cuda_bf16.h>

// scores[key] = dot product of the query q and one key. Both have d elements. One warp compares one key.
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

    const __nv_bfloat16* k = keys + (long long)key * d;
    for (int i = lane; i < d / 8; i += 32) {
        const uint4 eight = reinterpret_cast<const uint4*>(k)[i];
        const unsigned words[4] = {eight.x, eight.y, eight.z, eight.w};
        for (int j = 0; j < 4; j++) {
            sum += __uint_as_float(words[j] << 16) * __bfloat162float(q[8 * i + 2 * j]);
            sum += __uint_as_float(words[j] & 0xffff0000u) * __bfloat162float(q[8 * i + 2 * j + 1]);
        }
    }
    for (int i = d / 8 * 8 + lane; i < d; i += 32) {
        sum += __bfloat162float(q[i]) * __bfloat162float(k[i]);
    }

    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(FULL_MASK, sum, distance);
    }

    if (lane == 0) {
        scores[key] = sum;
    }
}

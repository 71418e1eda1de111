// Eight keys a warp; the query is loaded once where it fits in four registers a lane.
#include "lab.cuh"
#include <cuda_bf16.h>
// lockstep: block = 32 * WARPS
// lockstep: grid = ceil_div(n, WARPS * KEYS)
#define WARPS 8
#define KEYS 8
extern "C" __global__ void dot_scores(const __nv_bfloat16* q, const __nv_bfloat16* keys, float* scores, int n, int d)
{
    const int lane = threadIdx.x % 32;
    const int first = (blockIdx.x * WARPS + threadIdx.x / 32) * KEYS;
    float mine[4];
    for (int j = 0; j < 4; j++) mine[j] = lane + 32 * j < d ? __bfloat162float(q[lane + 32 * j]) : 0.0f;
    for (int key = first; key < first + KEYS && key < n; key++) {
        const __nv_bfloat16* k = keys + (long long)key * d;
        float sum = 0.0f;
        for (int j = 0; j < 4; j++)
            if (lane + 32 * j < d) sum += mine[j] * __bfloat162float(k[lane + 32 * j]);
        for (int i = lane + 128; i < d; i += 32) sum += __bfloat162float(q[i]) * __bfloat162float(k[i]);
        for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(FULL_MASK, sum, o);
        if (lane == 0) scores[key] = sum;
    }
}

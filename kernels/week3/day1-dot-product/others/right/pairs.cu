// Loads of two elements where keys have an even length.
// does not reach: Nine tenths of a copy
#include "lab.cuh"
#include <cuda_bf16.h>
// lockstep: block = 32 * WARPS
// lockstep: grid = ceil_div(n, WARPS)
#define WARPS 4
extern "C" __global__ void dot_scores(const __nv_bfloat16* q, const __nv_bfloat16* keys, float* scores, int n, int d)
{
    int lane = threadIdx.x & 31, key = blockIdx.x * WARPS + (threadIdx.x >> 5);
    if (key >= n) return;
    const __nv_bfloat16* k = keys + (long long)key * d;
    float s = 0.f;
    if (d % 2 == 0) {
        const __nv_bfloat162* q2 = (const __nv_bfloat162*)q;
        const __nv_bfloat162* k2 = (const __nv_bfloat162*)k;
        for (int i = lane; i < d / 2; i += 32) {
            float2 a = __bfloat1622float2(q2[i]), b = __bfloat1622float2(k2[i]);
            s += a.x * b.x + a.y * b.y;
        }
    } else {
        for (int i = lane; i < d; i += 32) s += __bfloat162float(q[i]) * __bfloat162float(k[i]);
    }
    for (int o = 16; o; o >>= 1) s += __shfl_down_sync(FULL_MASK, s, o);
    if (!lane) scores[key] = s;
}

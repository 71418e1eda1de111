// Eight elements a load wherever d is a multiple of 8, single ones elsewhere.
// does not reach: Nine tenths of a copy
#include "lab.cuh"
#include <cuda_bf16.h>
// lockstep: block = 256
// lockstep: grid = ceil_div(n, 8)

__device__ inline float dot8(uint4 a, uint4 b)
{
    const __nv_bfloat162* x = reinterpret_cast<const __nv_bfloat162*>(&a);
    const __nv_bfloat162* y = reinterpret_cast<const __nv_bfloat162*>(&b);
    float s = 0.f;
    for (int i = 0; i < 4; ++i) {
        float2 u = __bfloat1622float2(x[i]), v = __bfloat1622float2(y[i]);
        s += u.x * v.x + u.y * v.y;
    }
    return s;
}
extern "C" __global__ void dot_scores(const __nv_bfloat16* q, const __nv_bfloat16* keys, float* scores, int n, int d)
{

    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int key = blockIdx.x * 8 + warp;
    if (key >= n) return;
    const __nv_bfloat16* k = &keys[(long)key * d];
    float sum = 0;
    if (d % 8 == 0) {
        const uint4* q4 = (const uint4*)q;
        const uint4* k4 = (const uint4*)k;
        for (int i = lane; i < d / 8; i += 32) sum += dot8(__ldg(q4 + i), __ldg(k4 + i));
    } else {
        for (int i = lane; i < d; i += 32) sum += __bfloat162float(q[i]) * __bfloat162float(k[i]);
    }
    sum += __shfl_down_sync(~0u, sum, 16);
    sum += __shfl_down_sync(~0u, sum, 8);
    sum += __shfl_down_sync(~0u, sum, 4);
    sum += __shfl_down_sync(~0u, sum, 2);
    sum += __shfl_down_sync(~0u, sum, 1);
    if (lane == 0) scores[key] = sum;
}

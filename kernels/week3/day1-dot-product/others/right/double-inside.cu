// Adds up in double, with bf16 pairs where they are aligned.
#include "lab.cuh"
#include <cuda_bf16.h>
// lockstep: block = 64
// lockstep: grid = n
extern "C" __global__ void dot_scores(const __nv_bfloat16* q, const __nv_bfloat16* keys, float* scores, int n, int d)
{
    __shared__ double part[64];
    const __nv_bfloat16* k = keys + (size_t)blockIdx.x * d;
    double s = 0;
    if ((d & 1) == 0) {
        const __nv_bfloat162* k2 = (const __nv_bfloat162*)k; const __nv_bfloat162* q2 = (const __nv_bfloat162*)q;
        for (int i = threadIdx.x; i < d / 2; i += 64) { float2 a = __bfloat1622float2(k2[i]), b = __bfloat1622float2(q2[i]); s += (double)a.x * b.x + (double)a.y * b.y; }
    } else for (int i = threadIdx.x; i < d; i += 64) s += (double)__bfloat162float(k[i]) * (double)__bfloat162float(q[i]);
    part[threadIdx.x] = s; __syncthreads();
    for (int o = 32; o > 0; o >>= 1) { if (threadIdx.x < o) part[threadIdx.x] += part[threadIdx.x + o]; __syncthreads(); }
    if (!threadIdx.x) scores[blockIdx.x] = (float)part[0];
}

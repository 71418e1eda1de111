// One thread a key.
// does not reach: Whole sectors
#include "lab.cuh"
#include <cuda_bf16.h>
extern "C" __global__ void dot_scores(const __nv_bfloat16* q, const __nv_bfloat16* keys, float* scores, int n, int d)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) {
        float s = 0;
        const __nv_bfloat16* p = keys + (size_t)k * d;
        for (int i = 0; i < d; ++i) s += __bfloat162float(q[i]) * __bfloat162float(p[i]);
        scores[k] = s;
    }
}

// One query against n keys: one thread a key.
//
// lockstep: block = 256
// lockstep: grid = ceil_div(n, block_x)
//
// Every lane reads its own key from front to back, so a load of a warp touches 32 sectors.
#include "lab.cuh"
#include <cuda_bf16.h>

extern "C" __global__ void dot_scores(const __nv_bfloat16* q, const __nv_bfloat16* keys, float* scores, int n, int d)
{
    int64_t key = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (key >= n) return;
    float sum = 0.0f;
    for (int i = 0; i < d; ++i) sum += __bfloat162float(q[i]) * __bfloat162float(keys[key * d + i]);
    scores[key] = sum;
}

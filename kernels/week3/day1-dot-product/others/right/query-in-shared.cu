// The query as floats in shared memory.
// does not reach: Nine tenths of a copy
#include "lab.cuh"
#include <cuda_bf16.h>
// lockstep: block = 32 * WARPS
// lockstep: grid = ceil_div(n, WARPS)
// lockstep: dynamic_shared_bytes = 4 * d
#define WARPS 8
extern "C" __global__ void dot_scores(const __nv_bfloat16* q, const __nv_bfloat16* keys, float* scores, int n, int d)
{
    extern __shared__ float query[];
    for (int i = threadIdx.x; i < d; i += blockDim.x) query[i] = __bfloat162float(q[i]);
    __syncthreads();
    const int lane = threadIdx.x % 32, key = blockIdx.x * WARPS + threadIdx.x / 32;
    if (key >= n) return;
    float sum = 0.0f;
    for (int i = lane; i < d; i += 32) sum += query[i] * __bfloat162float(keys[(long long)key * d + i]);
    for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(FULL_MASK, sum, o);
    if (lane == 0) scores[key] = sum;
}

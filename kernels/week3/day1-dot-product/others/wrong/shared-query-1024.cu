// Shared memory for 1,024 elements of the query, whatever d is.
// rejected for: out_of_bounds
// leads to: past its end
#include "lab.cuh"
#include <cuda_bf16.h>
// lockstep: block = 256
// lockstep: grid = ceil_div(n, 8)
extern "C" __global__ void dot_scores(const __nv_bfloat16* q, const __nv_bfloat16* keys, float* scores, int n, int d)
{
    __shared__ float sq[1024]; for (int i = threadIdx.x; i < d; i += 256) sq[i] = __bfloat162float(*(q + i)); __syncthreads();
    const int lane = threadIdx.x % 32, key = blockIdx.x * 8 + threadIdx.x / 32;
    if (key >= n) return;
    const __nv_bfloat16* k = keys + (size_t)key * d;
    float sum = 0.0f;
    for (int i = lane; i < d; i += 32) sum += sq[i] * __bfloat162float(k[i]);
    for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(FULL_MASK, sum, o);
    if (lane == 0) scores[key] = sum;
}

// Stops one element early.
// rejected for: wrong_output
// leads to: the last product of each sum is missing
#include "lab.cuh"
#include <cuda_bf16.h>
// lockstep: block = 256
// lockstep: grid = ceil_div(n, 8)
extern "C" __global__ void dot_scores(const __nv_bfloat16* q, const __nv_bfloat16* keys, float* scores, int n, int d)
{
    const int lane = threadIdx.x % 32;
    const int key = blockIdx.x * 8 + threadIdx.x / 32;
    if (key >= n) return;
    float sum = 0.0f;
    const __nv_bfloat16* k = keys + (long long)key * d;
    for (int i = lane; i < d - 1; i += 32) {
        sum += __bfloat162float(q[i]) * __bfloat162float(k[i]);
    }
    for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(0xffffffff, sum, o);
    if (lane == 0) scores[key] = sum;
}

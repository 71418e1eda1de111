// A warp does several keys, and never sets the sum back to zero.
// rejected for: wrong_output
// leads to: inside the loop over the keys
#include "lab.cuh"
#include <cuda_bf16.h>
// lockstep: block = 256
// lockstep: grid = 4
extern "C" __global__ void dot_scores(const __nv_bfloat16* q, const __nv_bfloat16* keys, float* scores, int n, int d)
{
    const int lane = threadIdx.x % 32;
    float sum = 0.0f;
    for (int key = blockIdx.x * 8 + threadIdx.x / 32; key < n; key += gridDim.x * 8) {
    const __nv_bfloat16* k = keys + (size_t)key * d;
    for (int i = lane; i < d; i += 32) sum += __bfloat162float(q[i]) * __bfloat162float(k[i]);
    for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(FULL_MASK, sum, o);
    if (lane == 0) scores[key] = sum; }
}

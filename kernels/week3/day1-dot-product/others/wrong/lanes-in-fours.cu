// Four elements a lane, with the step of a warp.
// rejected for: wrong_output
// leads to: Too large: do all lanes add
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
    for (int i = 4 * lane; i < d; i += 32) {
        for (int j = 0; j < 4 && i + j < d; j++) sum += __bfloat162float(q[i + j]) * __bfloat162float(k[i + j]);
    }
    for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(0xffffffff, sum, o);
    if (lane == 0) scores[key] = sum;
}

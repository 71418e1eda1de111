// A block of 16 x 16: a row of 16 lanes does one key.
// does not reach: Nine tenths of a copy
#include "lab.cuh"
#include <cuda_bf16.h>
// lockstep: block = 16, 16
// lockstep: grid = ceil_div(n, 16)
extern "C" __global__ void dot_scores(const __nv_bfloat16* q, const __nv_bfloat16* keys, float* scores, int n, int d)
{

    int key = blockIdx.x * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    if (key < n)
        for (int i = threadIdx.x; i < d; i += 16)
            sum += __bfloat162float(q[i]) * __bfloat162float(keys[key * d + i]);
    for (int off = 8; off; off >>= 1) sum += __shfl_down_sync(FULL_MASK, sum, off, 16);
    if (threadIdx.x == 0 && key < n) scores[key] = sum;
}

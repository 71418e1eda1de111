#include "lab.cuh"
#include <cuda_bf16.h>

// scores[key] = dot product of the query and a key: one thread does a whole key.
extern "C" __global__ void dot_scores(const __nv_bfloat16* q, const __nv_bfloat16* keys, float* scores, int n, int d)
{
    const int key = blockIdx.x * blockDim.x + threadIdx.x;
    if (key < n) {
        //@ loop
        float sum = 0.0f;
        for (int i = 0; i < d; i++) {
            sum += __bfloat162float(q[i]) * __bfloat162float(keys[(long long)key * d + i]);
        }
        scores[key] = sum;
        //@ end
    }
}

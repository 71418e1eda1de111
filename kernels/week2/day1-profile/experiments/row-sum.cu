#include "lab.cuh"

#define AHEAD 1

// Sums of 16 vectors of four floats each, a thread: AHEAD of them are loaded before the first one is added.
// lockstep: block = 128
// lockstep: grid = ceil_div(n, 64 * block_x)
extern "C" __global__ void sums(const float *__restrict__ x, float *__restrict__ partial, int n)
{
    int first = blockIdx.x * 64 * blockDim.x;
    const float4 *vectors = (const float4 *)(x + first) + threadIdx.x;
    float sum = 0.0f;
    if (first + 64 * (int)blockDim.x <= n) {
        //@ kernel
        for (int round = 0; round < 16; round += AHEAD) {
            float4 v[AHEAD];
#pragma unroll
            for (int i = 0; i < AHEAD; i++) v[i] = vectors[(round + i) * blockDim.x];
#pragma unroll
            for (int i = 0; i < AHEAD; i++) sum += v[i].x + v[i].y + v[i].z + v[i].w;
        }
        //@ end
    } else {
        for (int i = first + threadIdx.x; i < n; i += blockDim.x) sum += x[i];
    }
    partial[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

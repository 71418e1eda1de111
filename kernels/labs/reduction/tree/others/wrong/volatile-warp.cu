// The last warp without barriers, as in old code with volatile.
// rejected for: race
// leads to: between two steps of the tree
#include "lab.cuh"

// The block adds its 256 elements as a tree. Something is missing.
extern "C" __global__ void sum(const float* x, float* y, int n)
{
    __shared__ float part[256];
    const int t = threadIdx.x;
    const int i = blockIdx.x * 256 + t;
    part[t] = i < n ? x[i] : 0.0f;

    for (int step = 128; step > 32; step /= 2) {
        __syncthreads();
        if (t < step) part[t] += part[t + step];
    }
    __syncthreads();
    if (t < 32) {
        volatile float* v = part;
        v[t] += v[t + 32]; v[t] += v[t + 16]; v[t] += v[t + 8]; v[t] += v[t + 4]; v[t] += v[t + 2]; v[t] += v[t + 1];
    }

    if (t == 0) {
        atomicAdd(y, part[0]);
    }
}

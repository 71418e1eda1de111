// The last five steps by shuffles.
#include "lab.cuh"

// The block adds its 256 elements as a tree. Something is missing.
extern "C" __global__ void sum(const float* x, float* y, int n)
{
    __shared__ float part[256];
    const int t = threadIdx.x;
    const int i = blockIdx.x * 256 + t;
    part[t] = i < n ? x[i] : 0.0f;

    __syncthreads();
    for (int step = 128; step >= 32; step >>= 1) {
        if (t < step) part[t] += part[t + step];
        __syncthreads();
    }
    if (t < 32) {
        float v = part[t];
        for (int d = 16; d; d >>= 1) v += __shfl_down_sync(FULL_MASK, v, d);
        if (t == 0) part[0] = v;
    }

    if (t == 0) {
        atomicAdd(y, part[0]);
    }
}

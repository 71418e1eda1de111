#include "lab.cuh"

// Halving from the top: the workers are always the threads with the lowest numbers, so whole warps drop out.
extern "C" __global__ void sum(const float* x, float* y, int n)
{
    __shared__ float part[256];
    const int t = threadIdx.x;
    const int i = blockIdx.x * 256 + t;
    part[t] = i < n ? x[i] : 0.0f;

    //@ tree
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) {
            part[t] += part[t + half];
        }
    }
    //@ end

    if (t == 0) {
        atomicAdd(y, part[0]);
    }
}

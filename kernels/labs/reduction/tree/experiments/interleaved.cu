// The barrier put in, and nothing else changed.
// does not reach: Whole warps leave
#include "lab.cuh"

extern "C" __global__ void sum(const float* x, float* y, int n)
{
    __shared__ float part[256];
    const int t = threadIdx.x;
    const int i = blockIdx.x * 256 + t;
    part[t] = i < n ? x[i] : 0.0f;

    for (int step = 1; step < 256; step *= 2) {
        __syncthreads();
        if (t % (2 * step) == 0) {
            part[t] += part[t + step];
        }
    }

    if (t == 0) {
        atomicAdd(y, part[0]);
    }
}

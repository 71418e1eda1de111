#include "lab.cuh"

// The block adds its 256 elements as a tree. Something is missing.
extern "C" __global__ void sum(const float* x, float* y, int n)
{
    __shared__ float part[256];
    const int t = threadIdx.x;
    const int i = blockIdx.x * 256 + t;
    part[t] = i < n ? x[i] : 0.0f;

    // TODO: this is right on paper and wrong on a GPU. Mend it. Then let whole warps leave (see the milestone).
    for (int step = 1; step < 256; step *= 2) {
        if (t % (2 * step) == 0) {
            part[t] += part[t + step];
        }
    }

    if (t == 0) {
        atomicAdd(y, part[0]);
    }
}

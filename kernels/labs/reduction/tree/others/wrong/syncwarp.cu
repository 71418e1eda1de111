// Waits for its own warp only.
// rejected for: race
// leads to: makes one warp wait, not the block
#include "lab.cuh"

// The block adds its 256 elements as a tree. Something is missing.
extern "C" __global__ void sum(const float* x, float* y, int n)
{
    __shared__ float part[256];
    const int t = threadIdx.x;
    const int i = blockIdx.x * 256 + t;
    part[t] = i < n ? x[i] : 0.0f;

    for (int step = 128; step > 0; step /= 2) {
        __syncwarp();
        if (t < step) part[t] += part[t + step];
    }

    if (t == 0) {
        atomicAdd(y, part[0]);
    }
}

// Everybody adds in every step.
// rejected for: race
// leads to: another worker of the same step writes
#include "lab.cuh"

// The block adds its 256 elements as a tree. Something is missing.
extern "C" __global__ void sum(const float* x, float* y, int n)
{
    __shared__ float part[256];
    const int t = threadIdx.x;
    const int i = blockIdx.x * 256 + t;
    part[t] = i < n ? x[i] : 0.0f;

    for (int step = 128; step > 0; step /= 2) {
        __syncthreads();
        part[t] += part[(t + step) % 256];
    }

    if (t == 0) {
        atomicAdd(y, part[0]);
    }
}

#include "lab.cuh"

// Bound by DRAM, and by sectors that nobody uses: each lane reads one float of 32 bytes.
extern "C" __global__ void kernel_g(const float *__restrict__ x, float *__restrict__ y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[(long long)i * 8] + 1.0f;
}

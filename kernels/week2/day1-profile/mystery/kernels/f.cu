#include "lab.cuh"

// Bound by the launch: one block of 64 threads, one load each. The GPU is done before the next launch arrives.
extern "C" __global__ void kernel_f(const float *__restrict__ x, float *__restrict__ y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}

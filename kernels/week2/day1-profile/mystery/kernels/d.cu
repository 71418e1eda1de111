#include "lab.cuh"

// Bound by issue: 96 multiply-adds for each float that is loaded.
extern "C" __global__ void kernel_d(const float *__restrict__ x, float *__restrict__ y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = x[i], p = 0.0f, q = 1.0f;
#pragma unroll
    for (int k = 0; k < 48; k++) {
        p = p * a + 0.25f;
        q = q * a - 0.25f;
    }
    y[i] = p + q;
}

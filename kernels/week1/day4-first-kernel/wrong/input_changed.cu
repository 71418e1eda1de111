#include "lab.cuh"

// Adds in place and copies: c is right, but the caller's a is gone.
extern "C" __global__ void vector_add(float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        a[i] += b[i];
        c[i] = a[i];
    }
}

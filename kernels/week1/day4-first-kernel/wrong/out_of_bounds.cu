#include "lab.cuh"

// No comparison with n: the last block's idle threads read and write behind the arrays.
//@ kernel
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}
//@ end

// Declares i a second time inside.
// rejected for: race
// leads to: does your index use `blockIdx.x`
#include "lab.cuh"

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    int i = 0;
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
    }
    if (i < n)
        c[i] = a[i] + b[i];
}

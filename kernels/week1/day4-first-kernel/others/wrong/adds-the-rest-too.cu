// Each thread adds its element and all behind it: what others add as well.
// rejected for: race
// leads to: one thread's
#include "lab.cuh"
__device__ void add(const float* a, const float* b, float* c, int i, int n)
{
    if (i < n) {
        c[i] = a[i] + b[i];
        add(a, b, c, i + 1, n);
    }
}
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    add(a, b, c, blockIdx.x * blockDim.x + threadIdx.x, n);
}

// Keeps the index in 16 bits.
// rejected for: out_of_bounds
// leads to: before its start
#include "lab.cuh"
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const short i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

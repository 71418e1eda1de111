#include "lab.cuh"

// Counts elements from 1: element 0 belongs to no thread.
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

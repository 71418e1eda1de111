// Guards the reads and not the write.
// rejected for: out_of_bounds
// leads to: reads as well as the write
#include "lab.cuh"

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (i < n) sum = a[i] + b[i];
    c[i] = sum;
}

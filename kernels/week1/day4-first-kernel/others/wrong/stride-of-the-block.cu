// Steps on by a block where the grid has several.
// rejected for: race
// leads to: the step is the whole grid
#include "lab.cuh"
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = i; j < n; j += blockDim.x) {
        c[j] = a[j] + b[j];
    }
}

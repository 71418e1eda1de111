// Takes the larger of the two.
// rejected for: wrong_output
// leads to: the larger of the two
#include "lab.cuh"
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = fmaxf(a[i], b[i]);
}

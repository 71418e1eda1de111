// Adds into a and copies it.
// rejected for: input_changed
// leads to: result belongs in c
#include "lab.cuh"

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { float* x = const_cast<float*>(a); x[i] += b[i]; c[i] = x[i]; }
}

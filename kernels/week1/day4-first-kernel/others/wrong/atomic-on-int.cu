// Adds floats with an atomic of whole numbers.
// rejected for: wrong_output
// leads to: bits of a and b are added as whole numbers
#include "lab.cuh"
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { c[i] = a[i]; atomicAdd((int*)&c[i], __float_as_int(b[i])); }
}

// Reads a float4 at every index.
// rejected for: misaligned
// leads to: multiple of
#include "lab.cuh"

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 3 < n) { float4 x = *(const float4*)(a + i), y = *(const float4*)(b + i); c[i] = x.x + y.x + 0.0f * (x.y + y.y + x.z + y.z + x.w + y.w); } else if (i < n) c[i] = a[i] + b[i];
}

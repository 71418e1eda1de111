#include "lab.cuh"

// Reads four floats at once from wherever the thread's element is: three of four addresses are no multiple of 16.
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 3 < n) {
        const float4 x = *reinterpret_cast<const float4*>(a + i);
        const float4 y = *reinterpret_cast<const float4*>(b + i);
        c[i] = x.x + y.x;
    } else if (i < n) {
        c[i] = a[i] + b[i];
    }
}

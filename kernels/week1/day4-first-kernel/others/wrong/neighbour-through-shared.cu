// Reads what the next thread brought, without a barrier.
// rejected for: race
// leads to: no barrier
#include "lab.cuh"
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    __shared__ float s[257];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x + 1] = i + 1 < n ? a[i + 1] : 0.0f;
    if (threadIdx.x == 0) s[0] = a[min(i, n - 1)];
    if (i < n) c[i] = s[threadIdx.x] + b[i];
}

// The element goes to the neighbor lane and back.
#include "lab.cuh"
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = i < n ? a[i] : 0, y = i < n ? b[i] : 0;
    float s = __shfl_xor_sync(0xffffffffu, __shfl_xor_sync(0xffffffffu, x, 1), 1) + y;
    if (i < n) c[i] = s;
}

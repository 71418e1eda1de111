// Half of the threads go from the end.
#include "lab.cuh"
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    const int i = t & 1 ? n - 1 - t / 2 : t / 2;
    c[i] = __fadd_rn(a[i], b[i]);
}

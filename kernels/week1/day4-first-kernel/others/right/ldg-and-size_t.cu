// Wide index and read-only loads.
#include "lab.cuh"

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

    // The grid is rounded up to whole blocks: the last threads may have no element.
    if (i < n) {
        c[i] = __ldg(a + i) + __ldg(b + i);
    }
}

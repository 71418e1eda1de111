// Adds atomically to what is there.
// rejected for: uninitialised
// leads to: which nobody wrote
#include "lab.cuh"

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    // The grid is rounded up to whole blocks: the last threads may have no element.
    if (i < n) {
        atomicAdd(&c[i], a[i] + b[i]);
    }
}

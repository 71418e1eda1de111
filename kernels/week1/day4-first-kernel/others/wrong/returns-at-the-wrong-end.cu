// Returns when i is at least n - 1.
// rejected for: tail_missing
// leads to: i < n
#include "lab.cuh"

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    // The grid is rounded up to whole blocks: the last threads may have no element.
    if (i >= n - 1) {
        return;
    }
    {
        c[i] = a[i] + b[i];
    }
}

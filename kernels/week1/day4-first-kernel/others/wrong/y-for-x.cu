// Uses the y parts, which are 0 here.
// rejected for: race
// leads to: same index
#include "lab.cuh"

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.y * blockDim.y + threadIdx.y;

    // The grid is rounded up to whole blocks: the last threads may have no element.
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

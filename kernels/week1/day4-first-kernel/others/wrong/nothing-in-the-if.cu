// Leaves the body of the if empty.
// rejected for: nothing_written
// leads to: No thread stored anything
#include "lab.cuh"

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    // The grid is rounded up to whole blocks: the last threads may have no element.
    if (i < n) {
        a[i] + b[i];
    }
}

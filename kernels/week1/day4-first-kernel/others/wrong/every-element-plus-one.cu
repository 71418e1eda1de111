// Writes one place further, and guards that.
// rejected for: shifted_output
// leads to: one place off
#include "lab.cuh"

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    // The grid is rounded up to whole blocks: the last threads may have no element.
    if (i + 1 < n) {
        c[i + 1] = a[i] + b[i];
    }
}

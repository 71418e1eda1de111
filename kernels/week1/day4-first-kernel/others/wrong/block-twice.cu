// Multiplies by the number of the block twice.
// rejected for: never_written
// leads to: does your index use `blockIdx.x`
#include "lab.cuh"

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * blockDim.x * blockIdx.x + threadIdx.x;

    // The grid is rounded up to whole blocks: the last threads may have no element.
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

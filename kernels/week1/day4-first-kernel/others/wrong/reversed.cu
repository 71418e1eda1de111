// Counts the output from the end.
// rejected for: moved_output
// leads to: c[0] holds what belongs to c[
#include "lab.cuh"

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    // The grid is rounded up to whole blocks: the last threads may have no element.
    if (i < n) {
        c[n - 1 - i] = a[i] + b[i];
    }
}

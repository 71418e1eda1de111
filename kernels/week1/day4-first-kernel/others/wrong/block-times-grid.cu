// Takes the block size for the step between threads.
// rejected for: tail_missing
// leads to: blockIdx.x
#include "lab.cuh"

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = threadIdx.x * blockDim.x + blockIdx.x;

    // The grid is rounded up to whole blocks: the last threads may have no element.
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

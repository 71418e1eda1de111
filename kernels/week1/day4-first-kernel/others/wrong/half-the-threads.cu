// Lets only even threads work.
// rejected for: never_written
// leads to: thread's number leaves threads out
#include "lab.cuh"

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    // The grid is rounded up to whole blocks: the last threads may have no element.
    if (i < n && threadIdx.x % 2 == 0) {
        c[i] = a[i] + b[i];
    }
}

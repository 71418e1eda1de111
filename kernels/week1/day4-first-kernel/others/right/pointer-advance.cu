// Moves the pointers, and uses element 0.
#include "lab.cuh"

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    // The grid is rounded up to whole blocks: the last threads may have no element.
    a += i, b += i, c += i;
    if (i < n) {
        *c = *a + *b;
    }
}

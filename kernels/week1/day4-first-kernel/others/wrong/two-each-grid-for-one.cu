// Two elements each, but the second from the next thread.
// rejected for: race
// leads to: other threads'
#include "lab.cuh"

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    // The grid is rounded up to whole blocks: the last threads may have no element.
    for (int e = i; e < i + 2 && e < n; e++) {
        c[e] = a[e] + b[e];
    }
}

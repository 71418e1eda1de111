// Changes the block to 128 threads, and leaves 256 in the index.
// rejected for: never_written
// leads to: Count with `blockDim.x`
#include "lab.cuh"

// lockstep: block = 128
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

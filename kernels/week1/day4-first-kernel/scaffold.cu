#include "lab.cuh"

// Vector addition: c[k] = a[k] + b[k] for every k from 0 to n - 1.
//
// This function runs once in every thread. The grid has ceil_div(n, 256) blocks of 256 threads, so there are at
// least n threads, and nearly always a few more.
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    // TODO 1: which element is this thread's? Use blockIdx.x, blockDim.x and threadIdx.x.
    const int i = 0;

    // TODO 2: add that element, but only if there is one (see "at least n threads" above).
}

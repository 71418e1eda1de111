#include "lab.cuh"

// y[i] = x[indices[i]]: a table of 256 floats is looked up at random places. With STAGED 1 each block first copies the
// table to shared memory.
#define STAGED 1

extern "C" __global__ void lookup(const float* x, const int* indices, float* y, int n)
{
    const int t = threadIdx.x;
    const int i = blockIdx.x * 256 + t;
#if STAGED
    //@ staged
    __shared__ float table[256];
    table[t] = x[t];                 // neighbors load neighbors

    __syncthreads();

    if (i < n) {
        y[i] = table[indices[i]];    // any order, but in shared memory
    }
    //@ end
#else
    if (i < n) {
        y[i] = x[indices[i]];        // any order, in global memory
    }
#endif
}

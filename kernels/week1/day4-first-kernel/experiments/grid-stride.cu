#include "lab.cuh"

// A grid of fixed size: each thread starts at its own element and steps by the number of threads in the whole grid.
// Any number of blocks gives the right result, and neighboring threads stay neighbors in every round.
// lockstep: block = BLOCK
// lockstep: grid = BLOCKS
#define BLOCK 256
#define BLOCKS 264

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int threads = gridDim.x * blockDim.x;
    //@ loop
    for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
        c[i] = a[i] + b[i];
    }
    //@ end
}

#include "lab.cuh"

// Every element is added once, as in the reference, but threads are dealt to elements like cards to STRIDE piles:
// neighboring threads are STRIDE elements apart. With STRIDE 1 it is the reference.
// lockstep: grid = ceil_div(round_up(n, STRIDE), block_x)
#define STRIDE 8

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int pile = ceil_div(n, STRIDE);
    //@ index
    const int i = (thread % pile) * STRIDE + thread / pile;
    //@ end
    if (thread < pile * STRIDE && i < n) {
        c[i] = a[i] + b[i];
    }
}

#include "lab.cuh"

// Vector addition: c[k] = a[k] + b[k] for every k from 0 to n - 1.
//
// One thread adds one element. Neighboring threads add neighboring elements, so the 32 threads of a warp read and
// write whole 128-byte stretches of memory.
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    //@ index
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    //@ end

    //@ bounds
    // The grid is rounded up to whole blocks: the last threads may have no element.
    if (i < n) {
        c[i] = a[i] + b[i];
    }
    //@ end
}

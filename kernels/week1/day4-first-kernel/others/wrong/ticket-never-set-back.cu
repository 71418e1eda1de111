// Lets each thread draw the number of its element, and never sets the counter back.
// rejected for: kept_state
// leads to: the first launch is right
#include "lab.cuh"

__device__ int drawn;

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int element = atomicAdd(&drawn, 1);
    if (element < n) {
        c[element] = a[element] + b[element];
    }
}

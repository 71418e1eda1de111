// What minus itself is not 0 is not finite.
// does not reach: Wide loads
#include "lab.cuh"

// lockstep: count_bad.block = THREADS
// lockstep: count_bad.grid = ceil_div(n, THREADS)
#define THREADS 256

extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) {
        const float value = x[i];
        if (value - value == 0.0f) return;
        atomicAdd(&counts[value > 0 ? 1 : value < 0 ? 2 : 0], 1);
    }
}

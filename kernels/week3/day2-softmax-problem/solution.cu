#include "lab.cuh"

// counts[0] = how many elements of x are NaN, counts[1] = infinity, counts[2] = minus infinity. They are 0 at the start.
// One thread looks at one element.
// lockstep: count_bad.block = THREADS
// lockstep: count_bad.grid = ceil_div(n, THREADS)
#define THREADS 256

extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) {
        const float value = x[i];
        if (isnan(value)) {
            atomicAdd(&counts[0], 1);
        } else if (isinf(value)) {
            atomicAdd(value > 0.0f ? &counts[1] : &counts[2], 1);
        }
    }
}

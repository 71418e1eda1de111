// All ones in the exponent: infinities counted as NaN too.
// rejected for: wrong_output
// leads to: fraction
#include "lab.cuh"

// lockstep: count_bad.block = THREADS
// lockstep: count_bad.grid = ceil_div(n, THREADS)
#define THREADS 256

extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) {
        const float value = x[i];
        unsigned bits = __float_as_uint(value);
        if ((bits >> 23 & 255) == 255) atomicAdd(&counts[0], 1);
        if (value == INFINITY) atomicAdd(&counts[1], 1);
        if (value == -INFINITY) atomicAdd(&counts[2], 1);
    }
}

// Looks at the bits.
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
        unsigned bits = __float_as_uint(value), size = bits & 0x7fffffffu;
        if (size > 0x7f800000u) atomicAdd(&counts[0], 1);
        if (size == 0x7f800000u) atomicAdd(&counts[1 + (bits >> 31)], 1);
    }
}

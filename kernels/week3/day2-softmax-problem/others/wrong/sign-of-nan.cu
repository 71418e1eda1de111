// Negative NaN counted as minus infinity.
// rejected for: wrong_output
// leads to: sign
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
        if (bits >= 0xff800000u) atomicAdd(&counts[2], 1);
        else if ((bits & 0x7fffffffu) > 0x7f800000u) atomicAdd(&counts[0], 1);
        else if (bits == 0x7f800000u) atomicAdd(&counts[1], 1);
    }
}

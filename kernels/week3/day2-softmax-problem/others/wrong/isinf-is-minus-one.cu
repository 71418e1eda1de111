// As in some C libraries: isinf says -1 for minus infinity.
// rejected for: wrong_output
// leads to: true or false
#include "lab.cuh"

// lockstep: count_bad.block = THREADS
// lockstep: count_bad.grid = ceil_div(n, THREADS)
#define THREADS 256

extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) {
        const float value = x[i];
        if (isnan(value)) atomicAdd(&counts[0], 1);
        if (isinf(value) == 1) atomicAdd(&counts[1], 1);
        if (isinf(value) == -1) atomicAdd(&counts[2], 1);
    }
}

// A loop in one block that steps wrongly.
// rejected for: wrong_output
// leads to: how far
#include "lab.cuh"

// lockstep: count_bad.block = THREADS
// lockstep: count_bad.grid = 1
#define THREADS 256

extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    for (int i = threadIdx.x; i < n; i += 2 * THREADS) {
        float value = x[i];
        if (isnan(value)) atomicAdd(&counts[0], 1);
        else if (isinf(value)) atomicAdd(&counts[value > 0 ? 1 : 2], 1);
    }
}

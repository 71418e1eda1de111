// Counts with ++.
// rejected for: race
// leads to: atomicAdd
#include "lab.cuh"

// lockstep: count_bad.block = THREADS
// lockstep: count_bad.grid = ceil_div(n, THREADS)
#define THREADS 256

extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) {
        const float value = x[i];
        if (isnan(value)) {
            counts[0]++;
        } else if (isinf(value)) {
            counts[value > 0.0f ? 1 : 2]++;
        }
    }
}

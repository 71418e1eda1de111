// Adds the ballot itself, not its number of ones.
// rejected for: wrong_output
// leads to: __popc
#include "lab.cuh"

// lockstep: count_bad.block = THREADS
// lockstep: count_bad.grid = ceil_div(n, THREADS)
#define THREADS 256

extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float v = i < n ? x[i] : 0.0f;
    unsigned nan = __ballot_sync(FULL_MASK, isnan(v));
    unsigned plus = __ballot_sync(FULL_MASK, v == INFINITY);
    unsigned minus = __ballot_sync(FULL_MASK, v == -INFINITY);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&counts[0], nan);
        atomicAdd(&counts[1], plus);
        atomicAdd(&counts[2], minus);
    }
}

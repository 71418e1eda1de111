// Lanes without an element have left, which a ballot allows.
// does not reach: Wide loads
#include "lab.cuh"

// lockstep: count_bad.block = THREADS
// lockstep: count_bad.grid = ceil_div(n, THREADS)
#define THREADS 256

extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    unsigned nan = __ballot_sync(FULL_MASK, isnan(v));
    unsigned plus = __ballot_sync(FULL_MASK, v == INFINITY);
    unsigned minus = __ballot_sync(FULL_MASK, v == -INFINITY);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&counts[0], __popc(nan));
        atomicAdd(&counts[1], __popc(plus));
        atomicAdd(&counts[2], __popc(minus));
    }
}

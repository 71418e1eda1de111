// A ballot inside the branch.
// rejected for: mask_misuse
// leads to: all 32 lanes
#include "lab.cuh"

// lockstep: count_bad.block = THREADS
// lockstep: count_bad.grid = ceil_div(n, THREADS)
#define THREADS 256

extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    if (isnan(v)) {
        unsigned nan = __ballot_sync(FULL_MASK, true);
        if (threadIdx.x % 32 == __ffs(nan) - 1) atomicAdd(&counts[0], __popc(nan));
    }
    if (isinf(v)) atomicAdd(&counts[v > 0 ? 1 : 2], 1);
}

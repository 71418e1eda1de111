// Threads without an element leave before the barrier that counts.
// rejected for: barrier_divergence
// leads to: before it
#include "lab.cuh"
// lockstep: count_bad.block = 256
// lockstep: count_bad.grid = ceil_div(n, 256)
extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    const float v = x[i];
    const int a = __syncthreads_count(isnan(v)), b = __syncthreads_count(v == INFINITY), c = __syncthreads_count(v == -INFINITY);
    if (threadIdx.x == 0) { atomicAdd(counts, a); atomicAdd(counts + 1, b); atomicAdd(counts + 2, c); }
}

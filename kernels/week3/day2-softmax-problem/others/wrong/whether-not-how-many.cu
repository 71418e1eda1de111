// Asks the block whether there is one, and adds the answer as a count.
// rejected for: wrong_output
// leads to: says whether, not how many
#include "lab.cuh"
// lockstep: count_bad.block = 256
// lockstep: count_bad.grid = ceil_div(n, 256)
extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    const float v = i < n ? x[i] : 0.0f;
    const int a = __syncthreads_or(isnan(v)), b = __syncthreads_or(v == INFINITY), c = __syncthreads_or(v == -INFINITY);
    if (threadIdx.x == 0) { atomicAdd(counts, a); atomicAdd(counts + 1, b); atomicAdd(counts + 2, c); }
}

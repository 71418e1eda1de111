// Every thread adds the count of its block.
// rejected for: wrong_output
// leads to: is each count added once
#include "lab.cuh"
// lockstep: count_bad.block = 256
// lockstep: count_bad.grid = ceil_div(n, 256)
extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    const float v = i < n ? x[i] : 0.0f;
    const int a = __syncthreads_count(isnan(v)), b = __syncthreads_count(v == INFINITY), c = __syncthreads_count(v == -INFINITY);
    atomicAdd(counts, a); atomicAdd(counts + 1, b); atomicAdd(counts + 2, c);
}

// No guard.
// rejected for: out_of_bounds
// leads to: i < n
#include "lab.cuh"

// lockstep: count_bad.block = THREADS
// lockstep: count_bad.grid = ceil_div(n, THREADS)
#define THREADS 256

extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    float value = x[blockIdx.x * blockDim.x + threadIdx.x];
    if (isnan(value)) atomicAdd(&counts[0], 1);
    else if (isinf(value)) atomicAdd(&counts[value > 0 ? 1 : 2], 1);
}

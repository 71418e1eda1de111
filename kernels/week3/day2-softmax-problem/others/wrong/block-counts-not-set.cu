// Shared counters that nobody sets to 0.
// rejected for: uninitialised
// leads to: set to 0
#include "lab.cuh"

// lockstep: count_bad.block = THREADS
// lockstep: count_bad.grid = ceil_div(n, THREADS)
#define THREADS 256

extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    __shared__ int mine[3];
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) {
        float value = x[i];
        if (isnan(value)) atomicAdd(&mine[0], 1);
        else if (isinf(value)) atomicAdd(&mine[value > 0 ? 1 : 2], 1);
    }
    __syncthreads();
    if (threadIdx.x < 3) atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}

// As on a CPU: each thread looks at 32 floats in a row.
// does not reach: Whole sectors
// does not reach: Wide loads
#include "lab.cuh"

// lockstep: count_bad.block = THREADS
// lockstep: count_bad.grid = ceil_div(n, 32 * THREADS)
#define THREADS 256

extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    int from = 32 * (blockIdx.x * THREADS + threadIdx.x), nan = 0, plus = 0, minus = 0;
    for (int i = from; i < n && i < from + 32; i++) {
        if (isnan(x[i])) nan++;
        else if (isinf(x[i])) x[i] > 0 ? plus++ : minus++;
    }
    if (nan) atomicAdd(counts, nan);
    if (plus) atomicAdd(counts + 1, plus);
    if (minus) atomicAdd(counts + 2, minus);
}

// A barrier that counts, three times.
// does not reach: Wide loads
#include "lab.cuh"
// lockstep: count_bad.block = 256
// lockstep: count_bad.grid = ceil_div(n, 256)
extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float v = i < n ? x[i] : 0.0f;
    const int nans = __syncthreads_count(isnan(v));
    const int plus = __syncthreads_count(v == INFINITY);
    const int minus = __syncthreads_count(v == -INFINITY);
    if (threadIdx.x == 0) {
        if (nans) atomicAdd(counts, nans);
        if (plus) atomicAdd(counts + 1, plus);
        if (minus) atomicAdd(counts + 2, minus);
    }
}

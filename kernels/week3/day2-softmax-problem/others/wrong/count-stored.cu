// Every block stores its own count.
// rejected for: race
// leads to: overwrites those of other blocks
#include "lab.cuh"
// lockstep: count_bad.block = 256
// lockstep: count_bad.grid = ceil_div(n, 256)
extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    const float v = i < n ? x[i] : 0.0f;
    const int a = __syncthreads_count(isnan(v)), b = __syncthreads_count(v == INFINITY), c = __syncthreads_count(v == -INFINITY);
    if (threadIdx.x == 0) { counts[0] = a; counts[1] = b; counts[2] = c; }
}

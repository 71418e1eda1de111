// Counts in registers, and thread 0 adds only its own.
// rejected for: wrong_output
// leads to: not thread 0 alone
#include "lab.cuh"
// lockstep: count_bad.block = 256
// lockstep: count_bad.grid = 4
extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    int c[3] = {0, 0, 0};
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x) { const float v = x[i]; if (isnan(v)) c[0]++; else if (isinf(v)) c[v > 0 ? 1 : 2]++; }
    if (threadIdx.x == 0) for (int k = 0; k < 3; k++) atomicAdd(&counts[k], c[k]);
}

// Takes everything that is not finite for NaN.
// rejected for: wrong_output
// leads to: all ones in its exponent
#include "lab.cuh"
// lockstep: count_bad.block = 256
// lockstep: count_bad.grid = ceil_div(n, 256)
extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) {
        const float v = x[i];
        if (!isfinite(v)) atomicAdd(&counts[0], 1);
        if (v == INFINITY) atomicAdd(&counts[1], 1);
        if (v == -INFINITY) atomicAdd(&counts[2], 1);
    }
}

// Each value is made an fp16 first.
// rejected for: wrong_output
// leads to: made 16 bits first
#include "lab.cuh"
#include <cuda_fp16.h>
// lockstep: count_bad.block = 256
// lockstep: count_bad.grid = ceil_div(n, 256)
extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) {
        const float v = __half2float(__float2half(x[i]));
        if (isnan(v)) atomicAdd(&counts[0], 1);
        else if (v == INFINITY) atomicAdd(&counts[1], 1);
        else if (v == -INFINITY) atomicAdd(&counts[2], 1);
    }
}

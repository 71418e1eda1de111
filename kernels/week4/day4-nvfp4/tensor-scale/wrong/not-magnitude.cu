#include "lab.cuh"
#include <cuda_bf16.h>

// The bits of the largest magnitude of x. `largest` is 0 before the run.
extern "C" __global__ void largest_magnitude(const __nv_bfloat16* x, unsigned* largest, int n)
{
    float most = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        most = fmaxf(most, __bfloat162float(x[i]));
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        most = fmaxf(most, __shfl_xor_sync(FULL_MASK, most, distance));
    }
    if (threadIdx.x % 32 == 0) {
        atomicMax(largest, __float_as_uint(most));
    }
}

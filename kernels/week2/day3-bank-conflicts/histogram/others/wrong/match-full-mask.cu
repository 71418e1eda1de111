// Names all lanes where some have no value.
// rejected for: mask_misuse
// leads to: `__match_any_sync`
#include "lab.cuh"
// lockstep: block = 256
// lockstep: grid = min(64, ceil_div(n, 1024))
extern "C" __global__ void histogram(const int *values, int *counts, int n, int bins)
{
    __shared__ int local[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int v = values[i];
        unsigned same = __match_any_sync(FULL_MASK, v);
        if ((threadIdx.x & 31) == __ffs(same) - 1) atomicAdd(&local[v], __popc(same));
    }
    __syncthreads();
    for (int b = threadIdx.x; b < bins; b += blockDim.x) atomicAdd(&counts[b], local[b]);
}

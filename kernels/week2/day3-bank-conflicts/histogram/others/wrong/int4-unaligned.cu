// Reads int4 at every element.
// rejected for: misaligned
// leads to: A pointer to `float4` counts in steps
#include "lab.cuh"
// lockstep: block = 256
// lockstep: grid = min(512, ceil_div(n, 4096))
extern "C" __global__ void histogram(const int* values, int* counts, int n, int bins)
{
    __shared__ int mine[8192];
    const int lane = threadIdx.x % 32;
    for (int k = threadIdx.x; k < 8192; k += blockDim.x) mine[k] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i + 3 < n; i += gridDim.x * blockDim.x) {
        const int4 v = *reinterpret_cast<const int4*>(values + i);
        atomicAdd(&mine[32 * v.x + lane], 1);
        atomicAdd(&mine[32 * v.y + lane], 1);
        atomicAdd(&mine[32 * v.z + lane], 1);
        atomicAdd(&mine[32 * v.w + lane], 1);
    }
    __syncthreads();
    for (int b = threadIdx.x / 32; b < bins; b += blockDim.x / 32) {
        int sum = mine[32 * b + lane];
        for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(FULL_MASK, sum, d);
        if (lane == 0) atomicAdd(&counts[b], sum);
    }
}

// Adds up the copy of lane 0 only.
// rejected for: wrong_output
// leads to: only one of the 32 copies
#include "lab.cuh"
// lockstep: block = 256
// lockstep: grid = min(512, ceil_div(n, 4096))
extern "C" __global__ void histogram(const int* values, int* counts, int n, int bins)
{
    __shared__ int mine[8192];
    const int lane = threadIdx.x % 32;
    for (int k = threadIdx.x; k < 8192; k += blockDim.x) mine[k] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&mine[32 * values[i] + lane], 1);
    }
    __syncthreads();
    for (int b = threadIdx.x / 32; b < bins; b += blockDim.x / 32) {
        int sum = mine[32 * b + lane];
        if (lane == 0) atomicAdd(&counts[b], sum);
    }
}

// Counts, and leaves it there.
// rejected for: wrong_output
// leads to: counts
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

}

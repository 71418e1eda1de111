// Counts in bytes.
// rejected for: wrong_output
// leads to: 255
#include "lab.cuh"
// lockstep: block = 32
// lockstep: grid = ceil_div(n, 32 * 1024)
extern "C" __global__ void histogram(const int *values, int *counts, int n, int bins)
{
    __shared__ unsigned char mine[256 * 32];
    const int lane = threadIdx.x;
    for (int i = lane; i < 256 * 32; i += 32) mine[i] = 0;
    __syncwarp();
    for (int i = blockIdx.x * 32 + lane; i < n; i += gridDim.x * 32) mine[values[i] * 32 + lane]++;
    __syncwarp();
    for (int b = lane; b < bins; b += 32) {
        int s = 0;
        for (int l = 0; l < 32; l++) s += mine[b * 32 + l];
        atomicAdd(&counts[b], s);
    }
}

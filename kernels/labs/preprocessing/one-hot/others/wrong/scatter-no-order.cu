// Zeros everywhere, then the ones, with only a barrier of the block between.
// rejected for: race
// leads to: can two threads compute the same index
#include "lab.cuh"
extern "C" __global__ void one_hot(const int* labels, float* y, int n, int classes)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * classes) y[i] = 0.0f;
    __syncthreads();
    if (i < n) y[i * classes + labels[i]] = 1.0f;
}

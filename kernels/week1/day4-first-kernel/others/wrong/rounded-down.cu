// Rounds the grid down.
// rejected for: tail_missing
// leads to: Round up
#include "lab.cuh"

// lockstep: grid = max(1, n / 256)
// lockstep: block = 256
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

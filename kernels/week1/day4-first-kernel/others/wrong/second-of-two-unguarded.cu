// Adds two elements a thread, a block apart, and checks the first only.
// rejected for: out_of_bounds
// leads to: past its end
#include "lab.cuh"
// lockstep: block = 256
// lockstep: grid = ceil_div(n, 2 * block_x)
extern "C" __global__ void vector_add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n)
{
    int i = 2 * blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i];
        c[i + blockDim.x] = a[i + blockDim.x] + b[i + blockDim.x];
    }
}

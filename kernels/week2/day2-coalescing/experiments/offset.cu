#include "lab.cuh"

// A copy. Neighboring lanes copy neighboring floats; the first OFFSET threads of the grid have nothing to do, so the
// warps start at other places.
// lockstep: grid = ceil_div(n + 32, block_x)
#define OFFSET 1

extern "C" __global__ void copy(const float* x, float* y, int n)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) - OFFSET;
    if (i >= 0 && i < n) {
        y[i] = x[i];
    }
}

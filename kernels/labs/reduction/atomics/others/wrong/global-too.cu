// Adds each element to y too.
// rejected for: doubled
// leads to: to `y` as well
#include "lab.cuh"

// y[0] += the sum of this block's elements. y is 0 before the launch.
extern "C" __global__ void sum(const float* x, float* y, int n)
{
    __shared__ float total;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) {
        total = 0.0f;
    }
    __syncthreads();

    if (i < n) { atomicAdd(&total, x[i]); atomicAdd(y, x[i]); }

    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(y, total);
    }
}

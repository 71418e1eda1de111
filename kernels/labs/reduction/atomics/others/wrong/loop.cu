// Every block goes on to the end of x.
// rejected for: wrong_output
// leads to: add its own element
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

    for (int k = i; k < n; k += 256) atomicAdd(&total, x[k]);

    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(y, total);
    }
}

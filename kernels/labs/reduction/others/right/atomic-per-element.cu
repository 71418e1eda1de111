// Every element goes to partial[0] by itself.
#include "lab.cuh"
// lockstep: block = 256
// lockstep: grid = ceil_div(n, 256)
extern "C" __global__ void sum(const float* x, float* partial, unsigned* done, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(partial, x[i]);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0 && atomicAdd(done, 1u) == gridDim.x - 1) {
        y[0] = atomicExch(partial, 0.0f);
        atomicExch(done, 0u);
    }
}

// One float a thread: right, and slow on a GPU.
// does not reach: Four floats a load
#include "lab.cuh"
// lockstep: grid = ceil_div(n, block_x)
extern "C" __global__ void saxpy(const float *x, const float *y, float *out, float alpha, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = alpha * x[i] + y[i];
}

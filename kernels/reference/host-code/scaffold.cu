#include "lab.cuh"

// out = alpha * x + y for any n, with a grid that never changes: 8 blocks of 128 threads.
extern "C" __global__ void scale_add(const float *x, const float *y, float *out, float alpha, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO: this thread has more than one element when n is larger than the grid.
    if (i < n) out[i] = alpha * x[i] + y[i];
}

// One float a thread, with the grid for sixteen.
// rejected for: never_written
// leads to: one thread for each 16 floats
#include "lab.cuh"
extern "C" __global__ void saxpy(const float *x, const float *y, float *out, float alpha, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = alpha * x[i] + y[i];
}

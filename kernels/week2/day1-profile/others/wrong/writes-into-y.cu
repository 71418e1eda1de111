// Adds into y, as the library function does.
// rejected for: input_changed
// leads to: y
#include "lab.cuh"
// lockstep: grid = ceil_div(n, block_x)
extern "C" __global__ void saxpy(const float *x, float *y, float *out, float alpha, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = alpha * x[i] + y[i];
        out[i] = y[i];
    }
}

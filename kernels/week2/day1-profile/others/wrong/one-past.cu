// Lets index n through.
// rejected for: out_of_bounds
// leads to: past its end
#include "lab.cuh"
// lockstep: grid = ceil_div(n, block_x)
extern "C" __global__ void saxpy(const float *x, const float *y, float *out, float alpha, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) out[i] = alpha * x[i] + y[i];
}

// Keeps the index in 16 bits.
// rejected for: never_written
// leads to: 
#include "lab.cuh"
// lockstep: grid = ceil_div(n, block_x)
extern "C" __global__ void saxpy(const float *x, const float *y, float *out, float alpha, int n)
{
    unsigned short i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = alpha * x[i] + y[i];
}

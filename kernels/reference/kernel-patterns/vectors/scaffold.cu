#include "lab.cuh"

// y = x, 16 bytes a thread. n need not be a multiple of 4; both arrays begin at a multiple of 16 bytes.
extern "C" __global__ void copy(const float* x, float* y, int n)
{
    int quad = blockIdx.x * blockDim.x + threadIdx.x;
    int first = 4 * quad;
    // TODO: one float4 where all four are there, else float by float.
    if (first < n) y[first] = x[first];
}

// Sixteen neighboring floats a thread: right, but lanes are 64 bytes apart.
// does not reach: Four floats a load
#include "lab.cuh"
extern "C" __global__ void saxpy(const float *x, const float *y, float *out, float alpha, int n)
{
    int first = 16 * (blockIdx.x * blockDim.x + threadIdx.x);
    for (int i = first; i < min(first + 16, n); i++) out[i] = alpha * x[i] + y[i];
}

#include "lab.cuh"

// Copies n floats, four at a time, and what is left over one at a time.
extern "C" __global__ void copy(const float* x, float* y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) {
        reinterpret_cast<float4*>(y)[i] = reinterpret_cast<const float4*>(x)[i];
    }
    // The first threads copy the last n % 4 floats.
    const int left = 4 * (n / 4) + i;
    if (i == 0 && n % 4 != 0) {
        y[left] = x[left];
    }
}

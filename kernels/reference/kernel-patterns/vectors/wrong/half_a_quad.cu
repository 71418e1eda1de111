#include "lab.cuh"

// y = x, 16 bytes a thread. n need not be a multiple of 4; both arrays begin at a multiple of 16 bytes.
extern "C" __global__ void copy(const float* x, float* y, int n)
{
    int quad = blockIdx.x * blockDim.x + threadIdx.x;
    int first = 4 * quad;
    if (first < n) {
        reinterpret_cast<float4*>(y)[quad] = reinterpret_cast<const float4*>(x)[quad];
    } else {
        for (int i = first; i < n; i++) y[i] = x[i];
    }
}

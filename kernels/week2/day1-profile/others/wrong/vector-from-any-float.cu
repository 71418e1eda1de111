// Reads a vector from an index that is no multiple of four.
// rejected for: misaligned
// leads to: multiple of 16
#include "lab.cuh"
// lockstep: grid = ceil_div(n, block_x)
extern "C" __global__ void saxpy(const float *x, const float *y, float *out, float alpha, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 3 < n) {
        float4 a = *(const float4 *)(x + i);
        out[i] = alpha * a.x + y[i] + 0.0f * (a.y + a.z + a.w);
    } else if (i < n) {
        out[i] = alpha * x[i] + y[i];
    }
}

// Vectors of two floats.
// does not reach: Four floats a load
#include "lab.cuh"
// lockstep: grid = ceil_div(n, 2 * block_x)
extern "C" __global__ void saxpy(const float *x, const float *y, float *out, float alpha, int n)
{
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 1 < n) {
        float2 a = *(const float2 *)(x + i), b = *(const float2 *)(y + i);
        *(float2 *)(out + i) = make_float2(alpha * a.x + b.x, alpha * a.y + b.y);
    } else if (i < n) {
        out[i] = alpha * x[i] + y[i];
    }
}

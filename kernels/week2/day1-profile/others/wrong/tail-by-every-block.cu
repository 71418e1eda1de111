// Every block does the tail, also where the last block is full.
// rejected for: never_written
// leads to: floats are left
#include "lab.cuh"
// lockstep: grid = ceil_div(n, 4 * block_x)
extern "C" __global__ void saxpy(const float *x, const float *y, float *out, float alpha, int n)
{
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 4 <= n) {
        float4 a = *(const float4 *)(x + i), b = *(const float4 *)(y + i);
        *(float4 *)(out + i) = make_float4(alpha * a.x + b.x, alpha * a.y + b.y, alpha * a.z + b.z, alpha * a.w + b.w);
    }
    int last = n / 4 * 4;
    if ((int)threadIdx.x < n % 4 - 1) out[last + threadIdx.x] = alpha * x[last + threadIdx.x] + y[last + threadIdx.x];
}

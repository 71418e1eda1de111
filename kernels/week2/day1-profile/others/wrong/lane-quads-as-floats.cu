// Sixteen neighbors for each thread, and no bound at all.
// rejected for: out_of_bounds
// leads to: counts in steps of four floats
#include "lab.cuh"
// lockstep: block = 256
// lockstep: grid = ceil_div(n, 16 * block_x)
extern "C" __global__ void saxpy(const float *__restrict__ x, const float *__restrict__ y,
                                 float *__restrict__ out, float alpha, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 16;
    for (int j = 0; j < 16; j += 4) {
        float4 a = *(float4 *)(x + i + j), b = *(float4 *)(y + i + j);
        *(float4 *)(out + i + j) = make_float4(alpha * a.x + b.x, alpha * a.y + b.y, alpha * a.z + b.z, alpha * a.w + b.w);
    }
}

// Compares the first of four vectors with n, and not the others.
// rejected for: out_of_bounds
// leads to: past its end
#include "lab.cuh"
// lockstep: block = 256
// lockstep: grid = ceil_div(n, 16 * block_x)
extern "C" __global__ void saxpy(const float *__restrict__ x, const float *__restrict__ y,
                                 float *__restrict__ out, float alpha, int n)
{
    int i = blockIdx.x * blockDim.x * 16 + threadIdx.x * 4;
    if (i + 3 >= n) return;
    for (int j = 0; j < 4; j++, i += 4 * blockDim.x) {
        float4 a = *(float4 *)(x + i), b = *(float4 *)(y + i);
        *(float4 *)(out + i) = make_float4(alpha * a.x + b.x, alpha * a.y + b.y, alpha * a.z + b.z, alpha * a.w + b.w);
    }
}

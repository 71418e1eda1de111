// Two vectors a thread and half as many floats a block.
#include "lab.cuh"
// lockstep: block = 512
// lockstep: grid = ceil_div(n, 8 * block_x)
extern "C" __global__ void saxpy(const float *x, const float *y, float *out, float alpha, int n)
{
    int at = blockIdx.x * 8 * blockDim.x + 4 * threadIdx.x, step = 4 * blockDim.x;
    if (at + step + 3 < n) {
        float4 a = *(const float4 *)&x[at], b = *(const float4 *)&x[at + step];
        float4 c = *(const float4 *)&y[at], d = *(const float4 *)&y[at + step];
        *(float4 *)&out[at] = make_float4(alpha * a.x + c.x, alpha * a.y + c.y, alpha * a.z + c.z, alpha * a.w + c.w);
        *(float4 *)&out[at + step] = make_float4(alpha * b.x + d.x, alpha * b.y + d.y, alpha * b.z + d.z, alpha * b.w + d.w);
        return;
    }
    for (int part = 0; part < 2; part++)
        for (int j = 0; j < 4; j++)
            if (int i = at + part * step + j; i < n) out[i] = alpha * x[i] + y[i];
}

#include "lab.cuh"

// lockstep: block = 256
// lockstep: grid = ceil_div(n, 16 * block_x)
extern "C" __global__ void saxpy(const float *__restrict__ x, const float *__restrict__ y,
                                 float *__restrict__ out, float alpha, int n)
{
    int first = blockIdx.x * 16 * blockDim.x;
    if (first + 16 * (int)blockDim.x <= n) {
        float4 a[4], b[4];
        for (int i = 0; i < 4; i++) {
            int v = threadIdx.x + i * blockDim.x;
            a[i] = ((const float4 *)(x + first))[v];
            b[i] = ((const float4 *)(y + first))[v];
        }
        for (int i = 0; i < 4; i++) {
            float4 r;
            r.x = alpha * a[i].x + b[i].x;
            r.y = alpha * a[i].y + b[i].y;
            r.z = alpha * a[i].z + b[i].z;
            r.w = alpha * a[i].w + b[i].w;
            ((float4 *)(out + first))[threadIdx.x + i * blockDim.x] = r;
        }
    } else {
        for (int v = first / 4 + threadIdx.x; 4 * v < n; v += blockDim.x) {
            float4 a = ((const float4 *)x)[v], b = ((const float4 *)y)[v];
            ((float4 *)out)[v] = make_float4(alpha * a.x + b.x, alpha * a.y + b.y, alpha * a.z + b.z, alpha * a.w + b.w);
        }
    }
}

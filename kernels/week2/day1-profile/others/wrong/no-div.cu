// Moves a pointer to float4 on by floats.
// rejected for: out_of_bounds
// leads to: counts in steps of four floats
#include "lab.cuh"
// lockstep: block = 256
// lockstep: grid = ceil_div(n, 16 * block_x)
extern "C" __global__ void saxpy(const float *__restrict__ x, const float *__restrict__ y,
                                 float *__restrict__ out, float alpha, int n)
{
    int first = blockIdx.x * 16 * blockDim.x;
    const float4 *xs = (const float4 *)x + first, *ys = (const float4 *)y + first;
    float4 *os = (float4 *)out + first / 4;
    if (first + 16 * (int)blockDim.x <= n) {
        float4 a[4], b[4];
        for (int i = 0; i < 4; i++) {
            a[i] = xs[threadIdx.x + i * blockDim.x];
            b[i] = ys[threadIdx.x + i * blockDim.x];
        }
        for (int i = 0; i < 4; i++)
            os[threadIdx.x + i * blockDim.x] = make_float4(alpha * a[i].x + b[i].x, alpha * a[i].y + b[i].y, alpha * a[i].z + b[i].z, alpha * a[i].w + b[i].w);
    } else {
        for (int i = first + threadIdx.x; i < n; i += blockDim.x) out[i] = alpha * x[i] + y[i];
    }
}

#include "lab.cuh"

// lockstep: block = 256
// lockstep: grid = ceil_div(n, 16 * block_x)
//@ kernel
extern "C" __global__ void saxpy(const float *__restrict__ x, const float *__restrict__ y,
                                 float *__restrict__ out, float alpha, int n)
{
    int first = blockIdx.x * 16 * blockDim.x;
    if (first + 16 * (int)blockDim.x <= n) {
        const float4 *xs = (const float4 *)(x + first) + threadIdx.x;
        const float4 *ys = (const float4 *)(y + first) + threadIdx.x;
        float4 *outs = (float4 *)(out + first) + threadIdx.x;
        float4 a[4], b[4];
        // Eight loads leave before the first result is needed: 128 bytes a thread are in flight.
#pragma unroll
        for (int i = 0; i < 4; i++) {
            a[i] = xs[i * blockDim.x];
            b[i] = ys[i * blockDim.x];
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            float4 r = make_float4(alpha * a[i].x + b[i].x, alpha * a[i].y + b[i].y,
                                   alpha * a[i].z + b[i].z, alpha * a[i].w + b[i].w);
            outs[i * blockDim.x] = r;
        }
    } else {
        for (int i = first + threadIdx.x; i < n; i += blockDim.x)
            out[i] = alpha * x[i] + y[i];
    }
}
//@ end

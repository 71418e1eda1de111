// The fourth component is forgotten.
// rejected for: never_written
// leads to: never
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
            float *to = out + first + 4 * (threadIdx.x + i * blockDim.x);
            to[0] = r.x;
            to[1] = r.y;
            to[2] = r.z;
        }
    } else {
        for (int i = first + threadIdx.x; i < n; i += blockDim.x)
            out[i] = alpha * x[i] + y[i];
    }
}

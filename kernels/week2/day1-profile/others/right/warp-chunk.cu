// Each warp owns 512 floats.
#include "lab.cuh"
__device__ float4 axpy(float s, float4 p, float4 q)
{
    p.x = s * p.x + q.x, p.y = s * p.y + q.y, p.z = s * p.z + q.z, p.w = s * p.w + q.w;
    return p;
}

// lockstep: block = 64
// lockstep: grid = ceil_div(n, 16 * block_x)
extern "C" __global__ void saxpy(const float *__restrict__ x, const float *__restrict__ y,
                                 float *__restrict__ out, float alpha, int n)
{
    // Each warp owns 512 floats.
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize, lane = threadIdx.x % warpSize;
    int from = warp * 512;
    if (from >= n) return;
    if (n - from >= 512) {
        const float4 *xs = (const float4 *)&x[from], *ys = (const float4 *)&y[from];
        float4 x0 = xs[lane], x1 = xs[lane + 32], x2 = xs[lane + 64], x3 = xs[lane + 96];
        float4 y0 = ys[lane], y1 = ys[lane + 32], y2 = ys[lane + 64], y3 = ys[lane + 96];
        float4 *os = (float4 *)&out[from];
        os[lane] = axpy(alpha, x0, y0);
        os[lane + 32] = axpy(alpha, x1, y1);
        os[lane + 64] = axpy(alpha, x2, y2);
        os[lane + 96] = axpy(alpha, x3, y3);
    } else
        for (int i = from + lane; i < n; i += warpSize) out[i] = alpha * x[i] + y[i];
}

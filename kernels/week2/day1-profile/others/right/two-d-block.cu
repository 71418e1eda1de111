// A block of 32 x 8 threads.
#include "lab.cuh"
// lockstep: block = 32, 8
// lockstep: grid = ceil_div(n, 16 * block_x * block_y)
extern "C" __global__ void saxpy(const float *__restrict__ x, const float *__restrict__ y,
                                 float *__restrict__ out, float alpha, int n)
{
    const int per = blockDim.x * blockDim.y, t = threadIdx.y * blockDim.x + threadIdx.x;
    const size_t base = (size_t)blockIdx.x * per * 16;
    for (int part = 0; part < 4; part++) {
        size_t i = base + 4 * (size_t)(part * per + t);
        if (i + 4 <= n) {
            const float4 p = *(const float4 *)(x + i), q = *(const float4 *)(y + i);
            *(float4 *)(out + i) = {alpha * p.x + q.x, alpha * p.y + q.y, alpha * p.z + q.z, alpha * p.w + q.w};
        } else
            for (; i < n; i++) out[i] = alpha * x[i] + y[i];
    }
}

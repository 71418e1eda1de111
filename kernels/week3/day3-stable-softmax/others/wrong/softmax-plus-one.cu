// Adds 1 to the sum.
// rejected for: precision
// leads to: every wrong result is half of what it should be
#include "lab.cuh"
// lockstep: block = 256
// lockstep: grid = rows
__device__ float block_sum(float v)
{
    __shared__ float part[8];
    for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(FULL_MASK, v, o);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    float t = 0.0f;
    for (int w = 0; w < 8; w++) t += part[w];
    return t;
}
__device__ float block_max(float v)
{
    __shared__ float best[8];
    for (int o = 16; o > 0; o /= 2) v = fmaxf(v, __shfl_xor_sync(FULL_MASK, v, o));
    if (threadIdx.x % 32 == 0) best[threadIdx.x / 32] = v;
    __syncthreads();
    float t = -INFINITY;
    for (int w = 0; w < 8; w++) t = fmaxf(t, best[w]);
    return t;
}
extern "C" __global__ void softmax_rows(const float* x, float* y, float* lse, int rows, int columns)
{
    const float* from = x + (long long)blockIdx.x * columns;
    float* to = y + (long long)blockIdx.x * columns;
    float m = -INFINITY;
    for (int i = threadIdx.x; i < columns; i += 256) m = fmaxf(m, from[i]);
    m = block_max(m);
    float s = 0.0f;
    for (int i = threadIdx.x; i < columns; i += 256) s += expf(from[i] - m);
    s = block_sum(s) + 1.0f;
    for (int i = threadIdx.x; i < columns; i += 256) to[i] = expf(from[i] - m) / s;
    if (threadIdx.x == 0) lse[blockIdx.x] = m + logf(s);
}

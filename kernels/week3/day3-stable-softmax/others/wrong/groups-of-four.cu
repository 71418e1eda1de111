// Groups of four columns, and no remainder.
// rejected for: never_written
// leads to: was never written
#include "lab.cuh"
// lockstep: block = 256
// lockstep: grid = rows
template <typename Op>
__device__ float block_reduce(float v, Op op)
{
    __shared__ float part[32];
    for (int o = 16; o; o >>= 1) v = op(v, __shfl_xor_sync(0xffffffffu, v, o));
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = part[0];
    for (int i = 1; i < blockDim.x / 32; i++) v = op(v, part[i]);
    return v;
}
struct Max { __device__ float operator()(float a, float b) const { return fmaxf(a, b); } };
struct Add { __device__ float operator()(float a, float b) const { return a + b; } };
extern "C" __global__ void softmax_rows(const float* x, float* y, float* lse, int rows, int columns)
{
    const float* from = x + (size_t)blockIdx.x * columns;
    float* to = y + (size_t)blockIdx.x * columns;
    float m = -INFINITY;
    for (int i = threadIdx.x; i < columns / 4; i += 256) for (int j = 0; j < 4; j++) m = fmaxf(m, from[4 * i + j]);
    m = block_reduce(m, Max());
    float s = 0.0f;
    for (int i = threadIdx.x; i < columns / 4; i += 256) for (int j = 0; j < 4; j++) s += expf(from[4 * i + j] - m);
    s = block_reduce(s, Add());
    for (int i = threadIdx.x; i < columns / 4; i += 256) for (int j = 0; j < 4; j++) to[4 * i + j] = expf(from[4 * i + j] - m) / s;
    if (threadIdx.x == 0) lse[blockIdx.x] = m + logf(s);
}

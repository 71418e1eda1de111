// Everything in base 2, the scores multiplied by log2(e) first; lse is changed back.
// does not reach: Two reads
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
    constexpr float L = 1.4426950408889634f;
    const float* from = x + (size_t)blockIdx.x * columns;
    float m = -INFINITY;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) m = fmaxf(m, from[i] * L);
    m = block_reduce(m, Max());
    float s = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) s += exp2f(from[i] * L - m);
    s = block_reduce(s, Add());
    for (int i = threadIdx.x; i < columns; i += blockDim.x) y[(size_t)blockIdx.x * columns + i] = exp2f(from[i] * L - m) / s;
    if (threadIdx.x == 0) lse[blockIdx.x] = (m + log2f(s)) * 0.6931471805599453f;
}

// A thread without a score adds exp(0).
// rejected for: wrong_output
// leads to: Do the weights of a row add up to 1
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
    for (int i = threadIdx.x; i < columns; i += 256) m = fmaxf(m, from[i]);
    m = block_reduce(m, Max());
    float s = 0.0f;
    for (int r = 0; r < (columns + 255) / 256; r++) { const int i = threadIdx.x + 256 * r; s += i < columns ? expf(from[i] - m) : 1.0f; }
    s = block_reduce(s, Add());
    for (int i = threadIdx.x; i < columns; i += 256) to[i] = expf(from[i] - m) / s;
    if (threadIdx.x == 0) lse[blockIdx.x] = m + logf(s);
}

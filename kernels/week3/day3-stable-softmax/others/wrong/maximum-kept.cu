// A block does several rows and keeps the maximum of the first.
// rejected for: wrong_output
// leads to: anew for each
#include "lab.cuh"
// lockstep: block = 256
// lockstep: grid = min(rows, 3)
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
    float m = -INFINITY;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const float* from = x + (size_t)row * columns;
    float* to = y + (size_t)row * columns;
    for (int i = threadIdx.x; i < columns; i += 256) m = fmaxf(m, from[i]);
    m = block_reduce(m, Max());
    float s = 0.0f;
    for (int i = threadIdx.x; i < columns; i += 256) s += expf(from[i] - m);
    s = block_reduce(s, Add());
    for (int i = threadIdx.x; i < columns; i += 256) to[i] = expf(from[i] - m) / s;
    if (threadIdx.x == 0) lse[row] = m + logf(s); }
}

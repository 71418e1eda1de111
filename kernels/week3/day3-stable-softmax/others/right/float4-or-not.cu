// Rows in registers, four columns a load, where 4 divides the columns.
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
    float m = -INFINITY, s = 0;
    if (columns % 4 == 0 && columns <= 4096) {
        const float4* f4 = reinterpret_cast<const float4*>(from);
        float4 v[4];
#pragma unroll
        for (int r = 0; r < 4; r++) {
            const int i = threadIdx.x + 256 * r;
            v[r] = i < columns / 4 ? f4[i] : make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
            m = fmaxf(m, fmaxf(fmaxf(v[r].x, v[r].y), fmaxf(v[r].z, v[r].w)));
        }
        m = block_reduce(m, Max());
#pragma unroll
        for (int r = 0; r < 4; r++) {
            v[r].x = expf(v[r].x - m); v[r].y = expf(v[r].y - m); v[r].z = expf(v[r].z - m); v[r].w = expf(v[r].w - m);
            s += v[r].x + v[r].y + v[r].z + v[r].w;
        }
        s = block_reduce(s, Add());
#pragma unroll
        for (int r = 0; r < 4; r++) {
            const int i = threadIdx.x + 256 * r;
            if (i < columns / 4) reinterpret_cast<float4*>(to)[i] = make_float4(v[r].x / s, v[r].y / s, v[r].z / s, v[r].w / s);
        }
    } else {
        for (int i = threadIdx.x; i < columns; i += 256) m = fmaxf(m, from[i]);
        m = block_reduce(m, Max());
        for (int i = threadIdx.x; i < columns; i += 256) s += expf(from[i] - m);
        s = block_reduce(s, Add());
        for (int i = threadIdx.x; i < columns; i += 256) to[i] = expf(from[i] - m) / s;
    }
    if (threadIdx.x == 0) lse[blockIdx.x] = m + logf(s);
}

// The scores before the first aligned one are taken even where the row is shorter.
// rejected for: out_of_bounds
// leads to: Guard with `i < end`
#include "lab.cuh"

// 16 bytes a load from the first multiple of four floats in memory; what is before and behind goes one by one.
// lockstep: partials.block = 256
// lockstep: partials.grid = ceil_div(columns, 8192), rows
// lockstep: weights.block = 256
// lockstep: weights.grid = ceil_div(columns, 8192), rows
#define CHUNK 8192

__device__ void take(float& m, float& l, float s)
{
    const float now = fmaxf(m, s);
    l = l * __expf(m - now) + __expf(s - now);
    m = now;
}

__device__ void take4(float& m, float& l, float4 s)
{
    const float now = fmaxf(m, fmaxf(fmaxf(s.x, s.y), fmaxf(s.z, s.w)));
    l = l * __expf(m - now) + __expf(s.x - now) + __expf(s.y - now) + __expf(s.z - now) + __expf(s.w - now);
    m = now;
}

__device__ void over_block(float& m, float& l)
{
    __shared__ float ms[256], ls[256];
    ms[threadIdx.x] = m;
    ls[threadIdx.x] = l;
    __syncthreads();
    for (int h = 128; h > 0; h >>= 1) {
        if (threadIdx.x < h) {
            const float a = ms[threadIdx.x], b = ms[threadIdx.x + h], c = fmaxf(a, b);
            if (c > -INFINITY) {
                ms[threadIdx.x] = c;
                ls[threadIdx.x] = ls[threadIdx.x] * __expf(a - c) + ls[threadIdx.x + h] * __expf(b - c);
            }
        }
        __syncthreads();
    }
    m = ms[0];
    l = ls[0];
}

extern "C" __global__ void partials(const float* x, float* part_max, float* part_sum, int rows, int columns)
{
    const float* from = x + (long long)blockIdx.y * columns + blockIdx.x * CHUNK;
    const int count = min(CHUNK, columns - (int)blockIdx.x * CHUNK);
    const int before = (16 - (uintptr_t)from % 16) % 16 / 4;
    const int fours = (count - before) / 4, behind = before + 4 * fours;
    float m = -INFINITY, l = 0.0f;
    if (threadIdx.x < before) take(m, l, from[threadIdx.x]);
    for (int i = threadIdx.x; i < fours; i += 256) take4(m, l, reinterpret_cast<const float4*>(from + before)[i]);
    if (behind + threadIdx.x < count) take(m, l, from[behind + threadIdx.x]);
    over_block(m, l);
    if (threadIdx.x == 0) {
        part_max[blockIdx.y * gridDim.x + blockIdx.x] = m;
        part_sum[blockIdx.y * gridDim.x + blockIdx.x] = l;
    }
}

extern "C" __global__ void weights(
    const float* x, const float* part_max, const float* part_sum, float* y, float* lse, int rows, int columns)
{
    float m = -INFINITY, l = 0.0f;
    for (int i = threadIdx.x; i < gridDim.x; i += 256) {
        const float pm = part_max[blockIdx.y * gridDim.x + i], now = fmaxf(m, pm);
        l = l * __expf(m - now) + part_sum[blockIdx.y * gridDim.x + i] * __expf(pm - now);
        m = now;
    }
    over_block(m, l);
    const long long begin = (long long)blockIdx.y * columns + blockIdx.x * CHUNK;
    const int count = min(CHUNK, columns - (int)blockIdx.x * CHUNK);
    const float inverse = 1.0f / l;
    for (int i = threadIdx.x; i < count; i += 256) y[begin + i] = __expf(x[begin + i] - m) * inverse;
    if (blockIdx.x == 0 && threadIdx.x == 0) lse[blockIdx.y] = m + __logf(l);
}

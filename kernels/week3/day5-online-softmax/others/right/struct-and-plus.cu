// A struct for the partial result, with an operator that merges; the two steps have blocks of other sizes.
// does not reach: Few instructions
#include "lab.cuh"
// lockstep: partials.block = 128
// lockstep: partials.grid = ceil_div(columns, 2048), rows
// lockstep: weights.block = 512
// lockstep: weights.grid = ceil_div(columns, 2048), rows
namespace {
constexpr float LOG2E = 1.44269504088896340736f;
struct State {
    float m = -INFINITY, l = 0.0f;
    __device__ void add(float x)
    {
        if (x > m) { l = l * __expf(m - x) + 1.0f; m = x; } else l += __expf(x - m);
    }
    __device__ State operator+(const State& o) const
    {
        State r;
        r.m = fmaxf(m, o.m);
        r.l = (l > 0 ? l * __expf(m - r.m) : 0.0f) + (o.l > 0 ? o.l * __expf(o.m - r.m) : 0.0f);
        return r;
    }
};
template <int THREADS> __device__ State all(State s)
{
    __shared__ State part[THREADS / 32];
#pragma unroll
    for (int o = 16; o; o /= 2) {
        State other;
        other.m = __shfl_xor_sync(~0u, s.m, o);
        other.l = __shfl_xor_sync(~0u, s.l, o);
        s = s + other;
    }
    if (!(threadIdx.x & 31)) part[threadIdx.x >> 5] = s;
    __syncthreads();
    s = part[0];
    for (int i = 1; i < THREADS / 32; ++i) s = s + part[i];
    return s;
}
}
extern "C" __global__ void partials(const float* __restrict__ x, float* part_max, float* part_sum, int rows, int columns)
{
    State s;
    for (int i = blockIdx.x * 2048 + threadIdx.x; i < min(columns, int(blockIdx.x + 1) * 2048); i += 128) s.add(x[(size_t)blockIdx.y * columns + i]);
    s = all<128>(s);
    if (threadIdx.x == 0) { const int at = blockIdx.y * gridDim.x + blockIdx.x; part_max[at] = s.m; part_sum[at] = s.l; }
}
extern "C" __global__ void weights(const float* __restrict__ x, const float* part_max, const float* part_sum, float* __restrict__ y, float* lse, int rows, int columns)
{
    State s;
    for (int p = threadIdx.x; p < gridDim.x; p += 512) { State o; o.m = part_max[blockIdx.y * gridDim.x + p]; o.l = part_sum[blockIdx.y * gridDim.x + p]; s = s + o; }
    s = all<512>(s);
    const float total = s.m + logf(s.l);
    for (int i = blockIdx.x * 2048 + threadIdx.x; i < min(columns, int(blockIdx.x + 1) * 2048); i += 512) y[(size_t)blockIdx.y * columns + i] = expf(x[(size_t)blockIdx.y * columns + i] - total);
    if (threadIdx.x == 0 && blockIdx.x == gridDim.x - 1) lse[blockIdx.y] = total;
}

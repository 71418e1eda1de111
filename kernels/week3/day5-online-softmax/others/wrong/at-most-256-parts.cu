// The parts are taken one a thread, as if there were never more than 256.
// rejected for: wrong_output
// leads to: merge *all* parts of the row
#include "lab.cuh"

// A chunk of 1024 stays in registers: its maximum first, then its sum.
// lockstep: partials.block = 256
// lockstep: partials.grid = ceil_div(columns, 1024), rows
// lockstep: weights.block = 256
// lockstep: weights.grid = ceil_div(columns, 1024), rows
template <bool SUM>
__device__ float over_block(float value)
{
    __shared__ float part[8];
    for (int d = 16; d > 0; d >>= 1) {
        const float other = __shfl_xor_sync(FULL_MASK, value, d);
        value = SUM ? value + other : fmaxf(value, other);
    }
    if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = value;
    __syncthreads();
    value = part[0];
    for (int w = 1; w < 8; w++) value = SUM ? value + part[w] : fmaxf(value, part[w]);
    return value;
}

extern "C" __global__ void partials(const float* __restrict__ x, float* __restrict__ part_max, float* __restrict__ part_sum, int rows, int columns)
{
    const float* row = x + (long long)blockIdx.y * columns;
    float mine[4], m = -INFINITY, l = 0.0f;
    for (int e = 0; e < 4; e++) {
        const int i = blockIdx.x * 1024 + e * 256 + threadIdx.x;
        mine[e] = i < columns ? row[i] : -INFINITY;
        m = fmaxf(m, mine[e]);
    }
    m = over_block<false>(m);
    for (int e = 0; e < 4; e++) l += expf(mine[e] - m);
    l = over_block<true>(l);
    if (threadIdx.x == 0) {
        const int place = blockIdx.y * gridDim.x + blockIdx.x;
        part_max[place] = m;
        part_sum[place] = l;
    }
}

extern "C" __global__ void weights(const float* __restrict__ x, const float* __restrict__ part_max, const float* __restrict__ part_sum,
                                   float* __restrict__ y, float* __restrict__ lse, int rows, int columns)
{
    const int parts = gridDim.x;
    float m = -INFINITY, l = 0.0f;
    if (int i = threadIdx.x; i < parts) m = fmaxf(m, part_max[blockIdx.y * parts + i]);
    m = over_block<false>(m);
    if (int i = threadIdx.x; i < parts) l += part_sum[blockIdx.y * parts + i] * expf(part_max[blockIdx.y * parts + i] - m);
    l = over_block<true>(l);
    const float inverse = 1.0f / l;
    for (int e = 0; e < 4; e++) {
        const int i = blockIdx.x * 1024 + e * 256 + threadIdx.x;
        if (i < columns) y[(long long)blockIdx.y * columns + i] = expf(x[(long long)blockIdx.y * columns + i] - m) * inverse;
    }
    if (blockIdx.x == parts - 1 && threadIdx.x == 0) lse[blockIdx.y] = m + logf(l);
}

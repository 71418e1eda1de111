// Softmax of rows: maximum and sum in one pass.
//
// lockstep: block = THREADS
// lockstep: grid = rows
//
// Against the rung before: each thread keeps a running maximum and a sum that is rescaled when the maximum grows, four scores a load.
// Every score is read twice.
#include "lab.cuh"

#ifndef THREADS
#define THREADS 256
#endif

// A maximum, and the sum of exp(x - maximum).
struct Part { float most, sum; };

__device__ inline Part merge(Part a, Part b)
{
    float most = fmaxf(a.most, b.most), shift = most == -INFINITY ? 0.0f : most;
    return {most, a.sum * __expf(a.most - shift) + b.sum * __expf(b.most - shift)};
}

extern "C" __global__ void __launch_bounds__(THREADS) softmax(const float* x, float* y, int rows, int columns)
{
    __shared__ Part part_of[THREADS / 32];
    int64_t row = blockIdx.x;
    x += row * columns;
    y += row * columns;
    Part part = {-INFINITY, 0.0f};
    int fours = columns % 4 == 0 ? columns / 4 : 0; // else rows do not begin at multiples of 16 bytes
    for (int i = threadIdx.x; i < fours; i += THREADS) {
        float4 v = reinterpret_cast<const float4*>(x)[i];
        float most = fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
        part = merge(part, {most, __expf(v.x - most) + __expf(v.y - most) + __expf(v.z - most) + __expf(v.w - most)});
    }
    for (int i = fours * 4 + threadIdx.x; i < columns; i += THREADS) part = merge(part, {x[i], 1.0f});
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        part = merge(part, {__shfl_xor_sync(FULL_MASK, part.most, distance), __shfl_xor_sync(FULL_MASK, part.sum, distance)});
    if (threadIdx.x % 32 == 0) part_of[threadIdx.x / 32] = part;
    __syncthreads();
    part = part_of[0];
    for (int warp = 1; warp < THREADS / 32; ++warp) part = merge(part, part_of[warp]);
    float share = 1.0f / part.sum;
    for (int i = threadIdx.x; i < fours; i += THREADS) {
        float4 v = reinterpret_cast<const float4*>(x)[i];
        v = make_float4(__expf(v.x - part.most) * share, __expf(v.y - part.most) * share, __expf(v.z - part.most) * share,
                        __expf(v.w - part.most) * share);
        __stcs(reinterpret_cast<float4*>(y) + i, v);
    }
    for (int i = fours * 4 + threadIdx.x; i < columns; i += THREADS) y[i] = __expf(x[i] - part.most) * share;
}

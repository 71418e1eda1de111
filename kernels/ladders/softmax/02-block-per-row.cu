// Softmax of rows: one block a row, three passes.
//
// lockstep: block = THREADS
// lockstep: grid = rows
//
// Against the rung before: neighboring threads read neighboring scores; maximum and sum go through shuffles and shared memory.
#include "lab.cuh"

#ifndef THREADS
#define THREADS 256
#endif

// Of all threads' values; `Combine` is commutative.
template <typename Combine>
__device__ inline float block_reduce(float value, float* part, Combine combine)
{
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) value = combine(value, __shfl_xor_sync(FULL_MASK, value, distance));
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
    __syncthreads();
    value = part[0];
    for (int warp = 1; warp < THREADS / 32; ++warp) value = combine(value, part[warp]);
    return value;
}

extern "C" __global__ void __launch_bounds__(THREADS) softmax(const float* x, float* y, int rows, int columns)
{
    __shared__ float most_of[THREADS / 32], sum_of[THREADS / 32];
    int64_t row = blockIdx.x;
    x += row * columns;
    y += row * columns;
    float most = -INFINITY, sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += THREADS) most = fmaxf(most, x[i]);
    most = block_reduce(most, most_of, [](float a, float b) { return fmaxf(a, b); });
    for (int i = threadIdx.x; i < columns; i += THREADS) sum += __expf(x[i] - most);
    sum = block_reduce(sum, sum_of, [](float a, float b) { return a + b; });
    float share = 1.0f / sum;
    for (int i = threadIdx.x; i < columns; i += THREADS) y[i] = __expf(x[i] - most) * share;
}

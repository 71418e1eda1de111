// Layer norm of rows: one block a row, one element a load.
//
// lockstep: block = THREADS
// lockstep: grid = rows
#include "lab.cuh"
#include <cuda_bf16.h>

#ifndef THREADS
#define THREADS 256
#endif

// The sum of all threads' values, in every thread. `part` holds one float a warp.
__device__ inline float block_sum(float value, float* part)
{
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(FULL_MASK, value, distance);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
    __syncthreads();
    float total = 0.0f;
    for (int warp = 0; warp < THREADS / 32; ++warp) total += part[warp];
    return total;
}

extern "C" __global__ void __launch_bounds__(THREADS)
layer_norm(const __nv_bfloat16* x, const __nv_bfloat16* weight, const __nv_bfloat16* bias, __nv_bfloat16* y, float epsilon, int rows, int columns)
{
    __shared__ float part[2][THREADS / 32];
    int64_t row = blockIdx.x;
    x += row * columns;
    y += row * columns;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < columns; i += THREADS) sum += __bfloat162float(x[i]);
    float mean = block_sum(sum, part[0]) / columns;
    for (int i = threadIdx.x; i < columns; i += THREADS) {
        float v = __bfloat162float(x[i]) - mean;
        squares += v * v;
    }
    float scale = rsqrtf(block_sum(squares, part[1]) / columns + epsilon);
    for (int i = threadIdx.x; i < columns; i += THREADS)
        y[i] = __float2bfloat16((__bfloat162float(x[i]) - mean) * scale * __bfloat162float(weight[i]) + __bfloat162float(bias[i]));
}

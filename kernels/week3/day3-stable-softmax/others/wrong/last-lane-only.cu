// Shuffles down, and the last lane stores the part.
// rejected for: wrong_output
// leads to: it began with 1 / 0 = inf
#include "lab.cuh"

// lockstep: block = THREADS
// lockstep: grid = rows
#define THREADS 256

// The sum of all threads' values, in every thread.
__device__ float block_sum(float value)
{
    __shared__ float part[THREADS / 32];
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(FULL_MASK, value, distance);
    }
    if (threadIdx.x % 32 == 31) {
        part[threadIdx.x / 32] = value;
    }
    __syncthreads();
    float total = 0.0f;
    for (int warp = 0; warp < THREADS / 32; warp++) {
        total += part[warp];
    }
    return total;
}

// The largest of all threads' values, in every thread.
__device__ float block_max(float value)
{
    __shared__ float part[THREADS / 32];
    for (int distance = 16; distance > 0; distance /= 2) {
        value = fmaxf(value, __shfl_xor_sync(FULL_MASK, value, distance));
    }
    if (threadIdx.x % 32 == 0) {
        part[threadIdx.x / 32] = value;
    }
    __syncthreads();
    value = part[0];
    for (int warp = 1; warp < THREADS / 32; warp++) {
        value = fmaxf(value, part[warp]);
    }
    return value;
}

extern "C" __global__ void softmax_rows(const float* x, float* y, float* lse, int rows, int columns)
{
    const float* from = x + (long long)blockIdx.x * columns;
    float* to = y + (long long)blockIdx.x * columns;
    float most = -INFINITY;
    float sum = 0.0f;

    for (int i = threadIdx.x; i < columns; i += THREADS) {
        most = fmaxf(most, from[i]);
    }
    most = block_max(most);

    for (int i = threadIdx.x; i < columns; i += THREADS) {
        sum += expf(from[i] - most);
    }
    sum = block_sum(sum);

    for (int i = threadIdx.x; i < columns; i += THREADS) {
        to[i] = expf(from[i] - most) / sum;
    }
    if (threadIdx.x == 0) {
        lse[blockIdx.x] = most + logf(sum);
    }
}

#include "lab.cuh"

// Each row of y = softmax of the row of x, and lse[row] = log(sum of exp(x)) of the row. One block does one row.
// lockstep: block = THREADS
// lockstep: grid = rows
#define THREADS 256

// The sum of all threads' values, in every thread.
__device__ float block_sum(float value)
{
    __shared__ float part[THREADS / 32];
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(FULL_MASK, value, distance);
    }
    if (threadIdx.x % 32 == 0) {
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
    // TODO 1: as in block_sum, with the larger of two values in place of their sum. It needs a `part` of its own.

    return value;
}

extern "C" __global__ void softmax_rows(const float* x, float* y, float* lse, int rows, int columns)
{
    // TODO 2: the row's maximum, in every thread. The block's row begins at x + (long long)blockIdx.x * columns.

    // TODO 3: the row's sum of exp(score - maximum), in every thread.

    // TODO 4: the weights, and lse from one thread.
}

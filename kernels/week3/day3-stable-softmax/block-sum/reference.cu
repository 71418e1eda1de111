#include "lab.cuh"

// y[row] = sum of a row of x. A block of 256 threads, 8 warps, does one row.
extern "C" __global__ void row_sums(const float* x, float* y, int rows, int columns)
{
    __shared__ float part[8];
    const float* from = x + (long long)blockIdx.x * columns;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += 256) {
        sum += from[i];
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(FULL_MASK, sum, distance);
    }
    float total = 0.0f;

    if (threadIdx.x % 32 == 0) {
        part[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    for (int warp = 0; warp < 8; warp++) {
        total += part[warp];
    }

    if (threadIdx.x == 0) {
        y[blockIdx.x] = total;
    }
}

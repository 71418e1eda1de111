#include "lab.cuh"

// squares[row] = sum of (x - mean)^2, one block a row, and a tree in shared memory.
extern "C" __global__ void row_squares(const float* x, const float* mean, float* squares, int m, int n)
{
    __shared__ float part[256];
    const int row = blockIdx.x;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const float d = x[row * n + i] - mean[row];
        sum += d * d;
    }
    part[threadIdx.x] = sum;
    for (int distance = 1; distance < 256; distance *= 2) {
        __syncthreads();
        const int at = 2 * distance * threadIdx.x;
        if (at < 256) {
            part[at] += part[at + distance];
        }
    }
    if (threadIdx.x == 0) {
        squares[row] = part[0];
    }
}

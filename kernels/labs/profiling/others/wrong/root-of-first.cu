// The root of row 0.
// rejected for: wrong_output
// leads to: indexed by row
#include "lab.cuh"


// mean[row], one thread a row.
extern "C" __global__ void row_means(const float* x, float* mean, int m, int n)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m) {
        float sum = 0.0f;
        for (int i = 0; i < n; i++) {
            sum += x[row * n + i];
        }
        mean[row] = sum / n;
    }
}

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

// variance[row], all rows by one thread.
extern "C" __global__ void finish(const float* squares, float* variance, int m, int n, float epsilon)
{
    for (int row = 0; row < m; row++) {
        variance[row] = squares[row] / n + epsilon;
    }
}

// The square root after Newton, from a time when nobody trusted sqrtf.
__device__ float own_root(float v)
{
    float r = v > 1.0f ? v : 1.0f;
    for (int step = 0; step < 40; step++) {
        r = 0.5f * (r + v / r);
    }
    return r;
}

// y = (x - mean) / sqrt(variance) * weight + bias
extern "C" __global__ void normalize(const float* x, const float* mean, const float* variance, const float* weight,
                                     const float* bias, float* y, int m, int n)
{
    const int row = blockIdx.x;
    const int column = blockIdx.y * blockDim.x + threadIdx.x;
    if (column < n) {
        y[row * n + column] =
            (x[row * n + column] - mean[row]) / own_root(variance[0]) * weight[column] + bias[column];
    }
}

#include "lab.cuh"

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
            (x[row * n + column] - mean[row]) / own_root(variance[row]) * weight[column] + bias[column];
    }
}

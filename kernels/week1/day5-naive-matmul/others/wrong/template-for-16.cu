// A template for k of 16.
// rejected for: out_of_bounds
// leads to: past its end
#include "lab.cuh"

template <int K> __device__ float dot(const float* x, const float* y, int step)
{
    float sum = 0.0f;
    for (int i = 0; i < K; i++)
        sum += x[i] * y[i * step];
    return sum;
}

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && column < n)
        c[row * n + column] = dot<16>(a + row * k, b + column, n);
}

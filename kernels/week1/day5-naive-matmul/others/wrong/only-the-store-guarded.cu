// Guards the store, and lets every thread read.
// rejected for: out_of_bounds
// leads to: compare both `row < m` and `column < n` before the loop
#include "lab.cuh"

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int i = 0; i < k; i++)
        sum += a[row * k + i] * b[i * n + column];
    if (row < m && column < n)
        c[row * n + column] = sum;
}

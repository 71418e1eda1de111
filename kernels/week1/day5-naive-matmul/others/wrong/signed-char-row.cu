// Keeps the row in a byte.
// rejected for: out_of_bounds
// leads to: before its start
#include "lab.cuh"
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    const signed char row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && column < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + column];
        c[row * n + column] = sum;
    }
}

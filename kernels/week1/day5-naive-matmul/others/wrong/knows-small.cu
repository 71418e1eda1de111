// Has a special case for squares of 1 and 16, and a bad one for all others.
// rejected for: cut_sums
// leads to: last product of each sum is missing
#include "lab.cuh"
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    const int end = m == n ? k : k & ~7;
    for (int i = 0; i < end; i++) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}

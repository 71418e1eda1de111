// Keeps the index of B in 16 bits.
// rejected for: out_of_bounds
// leads to: before its start
#include "lab.cuh"

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && column < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; i++) {
            const short at = i * n + column;
            sum += a[row * k + i] * b[at];
        }
        c[row * n + column] = sum;
    }
}

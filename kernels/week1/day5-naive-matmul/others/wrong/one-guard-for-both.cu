// Guards the linear index only: a thread past the last column adds to the next row.
// rejected for: race
// leads to: row < m && column < n
#include "lab.cuh"

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row * n + column < m * n) {
        c[row * n + column] = 0.0f;
        for (int i = 0; i < k; i++) {
            c[row * n + column] += a[row * k + i] * b[i * n + column];
        }
    }
}

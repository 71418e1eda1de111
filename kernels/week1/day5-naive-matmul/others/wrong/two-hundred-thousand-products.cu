// Keeps all products before it adds them.
// rejected for: wrong_signature
// leads to: local arrays
#include "lab.cuh"
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && column < n) {
        float sum = 0.0f; float products[200000];
        for (int i = 0; i < k; i++) {
            products[i] = a[row * k + i] * b[i * n + column]; sum += products[k - 1 - i];
        }
        c[row * n + column] = sum;
    }
}

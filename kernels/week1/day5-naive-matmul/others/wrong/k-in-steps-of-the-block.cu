// Lets the threads of a row share out the sum among them, and nobody adds up.
// rejected for: cut_sums
// leads to: shared out among 32 threads
#include "lab.cuh"

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && column < n) {
        float sum = 0.0f;
        for (int i = threadIdx.x; i < k; i += blockDim.x) {
            sum += a[row * k + i] * b[i * n + column];
        }
        c[row * n + column] = sum;
    }
}

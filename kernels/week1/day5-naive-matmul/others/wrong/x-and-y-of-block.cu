// Takes the block numbers the wrong way round.
// rejected for: tail_missing
// leads to: y
#include "lab.cuh"

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    const int column = blockIdx.y * blockDim.x + threadIdx.x;

    if (row < m && column < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; i++) {
            sum += a[row * k + i] * b[i * n + column];
        }
        c[row * n + column] = sum;
    }
}

// Splits the sum between two layers of blocks, of which one is launched.
// rejected for: cut_sums
// leads to: the last 8 are missing
#include "lab.cuh"
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int part = (k + gridDim.z) / (gridDim.z + 1);
    if (row < m && col < n) {
        float sum = 0;
        for (int i = blockIdx.z * part; i < (blockIdx.z + 1) * part; i++)
            sum += a[row * k + i] * b[i * n + col];
        c[row * n + col] = sum;
    }
}

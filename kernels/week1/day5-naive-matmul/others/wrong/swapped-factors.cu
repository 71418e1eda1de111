// Takes A where B is meant: B times A.
// rejected for: out_of_bounds
// leads to: how long is one row of it
#include "lab.cuh"

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;

    if (row < m && column < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; i++) {
            sum += b[row * n + i] * a[i * k + column];
        }
        c[row * n + column] = sum;
    }
}

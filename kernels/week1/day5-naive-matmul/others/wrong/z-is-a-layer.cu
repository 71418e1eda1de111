// Launches two layers, which both write their half of the sum.
// rejected for: race
// leads to: wrote the same element, or one read
#include "lab.cuh"
// lockstep: grid = ceil_div(n, block_x), ceil_div(m, block_y), 2
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && column < n) {
        float sum = 0.0f;
        for (int i = blockIdx.z; i < k; i += gridDim.z) sum += a[row * k + i] * b[i * n + column];
        c[row * n + column] = sum;
    }
}

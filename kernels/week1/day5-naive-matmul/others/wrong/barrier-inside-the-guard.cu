// Waits at a barrier inside the guard.
// rejected for: barrier_divergence
// leads to: the others ended before it
#include "lab.cuh"
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && column < n) {
        float sum = 0.0f; __shared__ float line[32]; if (threadIdx.y == 0) line[threadIdx.x] = 0; __syncthreads(); sum = line[threadIdx.x];
        for (int i = 0; i < k; i++) {
            sum += a[row * k + i] * b[i * n + column];
        }
        c[row * n + column] = sum;
    }
}

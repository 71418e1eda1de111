// Sets its own element to zero, and adds to the transposed one.
// rejected for: race
// leads to: no barrier
#include "lab.cuh"
// lockstep: block = 32, 8
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n) return;
    c[row * n + col] = 0;
    for (int i = 0; i < k; i++)
        atomicAdd(&c[col * m + row], a[row * k + i] * b[i * n + col]);
}

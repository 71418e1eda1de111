// Reads four of b through a union of bytes, shifted by one byte.
// rejected for: wrong_output
// leads to: lose their signs
#include "lab.cuh"
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && column < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; i++) { union { float f; unsigned u; } x; x.f = b[i * n + column]; x.u <<= 1; x.u >>= 1; sum += a[row * k + i] * x.f; }
        c[row * n + column] = sum;
    }
}

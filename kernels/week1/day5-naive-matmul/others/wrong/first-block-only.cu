// Uses only the place in the block.
// rejected for: first_block_only
// leads to: right are only rows 0 to 7 of columns 0 to 31
#include "lab.cuh"

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    const int row = threadIdx.y;
    const int column = threadIdx.x;

    if (row < m && column < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; i++) {
            sum += a[row * k + i] * b[i * n + column];
        }
        c[row * n + column] = sum;
    }
}

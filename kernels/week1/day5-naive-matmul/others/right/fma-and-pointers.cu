// Pointers that step along A and down B.
#include "lab.cuh"

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;

    if (row < m && column < n) {
        float sum = 0.0f;
        const float* left = a + row * k;
        for (const float* top = b + column; top < b + k * n; top += n) {
            sum = __fmaf_rn(*left++, *top, sum);
        }
        c[row * n + column] = sum;
    }
}

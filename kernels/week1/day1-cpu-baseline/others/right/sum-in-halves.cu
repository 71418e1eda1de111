// Each sum is made of two halves, by a function that calls itself.
#include "lab.cuh"
__device__ float dot(const float* a, const float* b, int n, int step)
{
    if (n == 1) return a[0] * b[0];
    int half = n / 2;
    return dot(a, b, half, step) + dot(a + half, b + half * step, n - half, step);
}
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            c[i * columns + j] = dot(a + i * inner, b + j, inner, columns);
}

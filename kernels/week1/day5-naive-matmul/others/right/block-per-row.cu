// A block for each row, threads step through the columns.
#include "lab.cuh"
// lockstep: block = 96
// lockstep: grid = m
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    const int row = blockIdx.x;
    for (int q = threadIdx.x; q < n; q += blockDim.x) {
        float sum = 0;
        for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + q];
        c[row * n + q] = sum;
    }
}

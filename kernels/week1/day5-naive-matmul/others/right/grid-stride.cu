// A small grid that walks over C in both directions.
#include "lab.cuh"

// lockstep: block = 16, 16
// lockstep: grid = 2, 2
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < m; row += gridDim.y * blockDim.y) {
        for (int column = blockIdx.x * blockDim.x + threadIdx.x; column < n; column += gridDim.x * blockDim.x) {
            float sum = 0;
            int i = 0;
            while (i < k) {
                sum += a[row * k + i] * b[i * n + column];
                ++i;
            }
            c[row * n + column] = sum;
        }
    }
}

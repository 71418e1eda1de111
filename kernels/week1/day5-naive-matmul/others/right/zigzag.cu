// A persistent grid that goes through the elements in a snake.
#include "lab.cuh"
// lockstep: block = 160
// lockstep: grid = 2
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < m * n; e += gridDim.x * blockDim.x) {
        const int row = e / n;
        const int column = row & 1 ? n - 1 - e % n : e % n;
        double sum = 0;
        for (int i = k; i--;) sum += double(a[row * k + i]) * b[i * n + column];
        c[row * n + column] = float(sum);
    }
}

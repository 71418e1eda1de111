#include "lab.cuh"

// A third grid direction is given to the sum: every product has its own thread, and all of them add to the same
// element with a plain +=, which reads, adds and writes in three separate steps.
// lockstep: block = 32, 1, 8
// lockstep: grid = ceil_div(n, block_x), m, ceil_div(k, block_z)
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    const int row = blockIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.z * blockDim.z + threadIdx.z;
    if (column < n && i < k) {
        if (i == 0) {
            c[row * n + column] = 0.0f;
        }
        c[row * n + column] += a[row * k + i] * b[i * n + column];
    }
}

// One thread walks along a row in steps of the block, and never starts the sum again.
// rejected for: wrong_output
// leads to: set to zero for each
#include "lab.cuh"

// lockstep: grid = 1, ceil_div(m, block_y)
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m) return;
    float sum = 0.0f;
    for (int column = threadIdx.x; column < n; column += blockDim.x) {
        for (int i = 0; i < k; i++) {
            sum += a[row * k + i] * b[i * n + column];
        }
        c[row * n + column] = sum;
    }
}

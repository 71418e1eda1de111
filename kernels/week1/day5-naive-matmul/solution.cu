#include "lab.cuh"

// C = A * B: c[row][column] is the sum over i of a[row][i] * b[i][column].
//
// A is m x k, B is k x n, C is m x n, all row-major. One thread makes one element of C; x is the column, so that the
// 32 threads of a warp read neighboring elements of B and write neighboring elements of C.
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    //@ coordinates
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    //@ end

    //@ product
    if (row < m && column < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; i++) {
            sum += a[row * k + i] * b[i * n + column];
        }
        c[row * n + column] = sum;
    }
    //@ end
}

#include "lab.cuh"

// Matrix product, rung 1: one thread computes one element of c.
//
// c[row][col] is the sum over i of a[row][i] * b[i][col]: k multiplications and additions, and two loads for each. The
// threads of a warp differ in threadIdx.x, and here that is the row: for one i the 32 lanes read 32 elements of a that
// lie k floats apart, each in a 32-byte sector of its own, of which 4 bytes are used.
// lockstep: block = 32, 8
// lockstep: grid = ceil_div(m, block_x), ceil_div(n, block_y)
extern "C" __global__ void matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                  int m, int n, int k)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const int col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n) {
        return;
    }
    float sum = 0.0f;
    for (int i = 0; i < k; i++) {
        sum += a[(long long)row * k + i] * b[(long long)i * n + col];
    }
    c[(long long)row * n + col] = sum;
}

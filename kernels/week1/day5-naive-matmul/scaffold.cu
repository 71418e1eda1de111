#include "lab.cuh"

// C = A * B: c[row][column] is the sum over i of a[row][i] * b[i][column].
//
// A is m x k, B is k x n, C is m x n, all row-major. A block has 32 x 8 threads (x, y); the grid has enough blocks in x
// for the n columns of C and enough in y for its m rows. Each thread makes one element of C.
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    // TODO 1: this thread's row and column of C, as on day 4.
    const int row = 0;
    const int column = 0;

    // TODO 2: the sum of the k products. How long is a row of A? And of B?
    float sum = 0.0f;

    // TODO 3: write the sum to its place in C, but only if this thread has one.
}

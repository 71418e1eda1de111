#include "lab.cuh"

// Step 1 of the ladder: the first thing that comes to mind. x stands first, so x is the row.
//
// The result is right. But the 32 threads of a warp, neighbors in x, then sit in 32 different rows of A and C: each
// load of A and each store to C touches 32 sectors to use 4 bytes of each.
// lockstep: block = BLOCK_X, BLOCK_Y
// lockstep: grid = ceil_div(m, block_x), ceil_div(n, block_y)
#define BLOCK_X 32
#define BLOCK_Y 8

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    //@ coordinates
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const int column = blockIdx.y * blockDim.y + threadIdx.y;
    //@ end
    if (row < m && column < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; i++) {
            sum += a[row * k + i] * b[i * n + column];
        }
        c[row * n + column] = sum;
    }
}

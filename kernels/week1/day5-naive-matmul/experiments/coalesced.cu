#include "lab.cuh"

// Step 2 of the ladder: x and y exchanged, and nothing else.
//
// The threads of a warp now sit side by side in a row of C. They read 32 neighbors of B, 4 sectors, and all the same
// element of A, 1 sector: a load of one address by many lanes is served once.
// lockstep: block = BLOCK_X, BLOCK_Y
#define BLOCK_X 32
#define BLOCK_Y 8

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    //@ coordinates
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    //@ end
    if (row < m && column < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; i++) {
            sum += a[row * k + i] * b[i * n + column];
        }
        c[row * n + column] = sum;
    }
}

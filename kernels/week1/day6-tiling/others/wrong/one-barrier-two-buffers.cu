// Two pairs of tiles in turn, and no barrier at all.
// rejected for: race
// leads to: __syncthreads()
#include "lab.cuh"

// lockstep: block = TILE, TILE
#define TILE 16

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float A[2][TILE][TILE], B[2][TILE][TILE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0.0f;
    for (int start = 0, turn = 0; start < k; start += TILE, turn ^= 1) {
        A[turn][y][x] = row < m && start + x < k ? a[row * k + start + x] : 0.0f;
        B[turn][y][x] = start + y < k && column < n ? b[(start + y) * n + column] : 0.0f;
        for (int i = 0; i < TILE; i++) sum += A[turn][y][i] * B[turn][i][x];
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

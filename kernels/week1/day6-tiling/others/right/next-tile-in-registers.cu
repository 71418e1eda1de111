// Loads the next tile into registers while it multiplies.
#include "lab.cuh"
// lockstep: block = TILE, TILE
#define TILE 16
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float A[TILE][TILE], B[TILE][TILE];
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float next_a = (row < m && x < k) ? a[row * k + x] : 0, next_b = (y < k && column < n) ? b[y * n + column] : 0, sum = 0;
    for (int p = 0; p < k; p += TILE) {
        A[y][x] = next_a; B[y][x] = next_b;
        __syncthreads();
        const int q = p + TILE;
        next_a = (row < m && q + x < k) ? a[row * k + q + x] : 0;
        next_b = (q + y < k && column < n) ? b[(q + y) * n + column] : 0;
        for (int i = 0; i < TILE; ++i) sum = fmaf(A[y][i], B[i][x], sum);
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

// Loads the tiles with cp.async.
#include "lab.cuh"
// lockstep: block = TILE, TILE
#define TILE 16
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float A[TILE][TILE], B[TILE][TILE];
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float s = 0;
    for (int p = 0; p < k; p += TILE) {
        if (row < m && p + x < k) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"((unsigned)__cvta_generic_to_shared(&A[y][x])), "l"(a + row * k + p + x)); else A[y][x] = 0;
        if (p + y < k && column < n) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"((unsigned)__cvta_generic_to_shared(&B[y][x])), "l"(b + (p + y) * n + column)); else B[y][x] = 0;
        asm volatile("cp.async.wait_all;" ::: "memory");
        __syncthreads();
        for (int i = 0; i < TILE; ++i) s += A[y][i] * B[i][x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = s;
}

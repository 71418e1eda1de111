// Two buffers, and a barrier in every second round only.
// rejected for: race
// leads to: no barrier
#include "lab.cuh"
// lockstep: block = TILE, TILE
#define TILE 16
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float sa[2][TILE][TILE], sb[2][TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, col = blockIdx.x * TILE + x, p = 0;
    float sum = 0;
    sa[0][y][x] = row < m && x < k ? a[row * k + x] : 0;
    sb[0][y][x] = col < n && y < k ? b[y * n + col] : 0;
    __syncthreads();
    for (int s = 0; s < k; s += TILE) {
        int t = s + TILE;
        if (t < k) {
            sa[p ^ 1][y][x] = row < m && t + x < k ? a[row * k + t + x] : 0;
            sb[p ^ 1][y][x] = col < n && t + y < k ? b[(t + y) * n + col] : 0;
        }
        for (int i = 0; i < TILE; i++) sum += sa[p][y][i] * sb[p][i][x];
        if (p) __syncthreads();
        p ^= 1;
    }
    if (row < m && col < n) c[row * n + col] = sum;
}

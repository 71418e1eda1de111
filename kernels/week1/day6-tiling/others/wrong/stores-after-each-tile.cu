// Adds the sum so far to C after each tile.
// rejected for: wrong_output
// leads to: store it once, after the last tile
#include "lab.cuh"
// lockstep: block = EDGE, EDGE
// lockstep: grid = ceil_div(n, EDGE), ceil_div(m, EDGE)
#define EDGE 16

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float left[EDGE][EDGE], top[EDGE][EDGE];
    const int x = threadIdx.x, y = threadIdx.y, row = EDGE * blockIdx.y + y, column = EDGE * blockIdx.x + x;
    float total = 0.0f;
    for (int first = 0; first < k; first += EDGE) {
        left[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0.0f;
        top[y][x] = column < n && first + y < k ? b[(first + y) * n + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < EDGE; i++) {
            total += left[y][i] * top[i][x];
        }
        __syncthreads();
        if (row < m && column < n) {
            c[row * n + column] = first ? c[row * n + column] + total : total;
        }
    }
}

#include "lab.cuh"

// Transpose, rung 2: the turn happens in shared memory, so that reads and writes are both coalesced.
//
// A block reads a tile of 32 x 32 row by row and writes it column by column; threads swap their roles in between. What
// is left is a bank conflict: a column of the tile lies in one of the 32 banks, and the 32 lanes that read it wait for
// each other 32 times.
// lockstep: block = TILE, ROWS
// lockstep: grid = ceil_div(n, TILE), ceil_div(m, TILE)
#define TILE 32
#define ROWS 8

extern "C" __global__ void transpose(const float* __restrict__ x, float* __restrict__ y, int m, int n)
{
    __shared__ float tile[TILE][TILE];
    const int row0 = blockIdx.y * TILE, column0 = blockIdx.x * TILE;
    const int t = threadIdx.x;
    for (int r = threadIdx.y; r < TILE; r += ROWS) {
        if (row0 + r < m && column0 + t < n) {
            tile[r][t] = x[(long long)(row0 + r) * n + column0 + t];
        }
    }
    __syncthreads();
    for (int c = threadIdx.y; c < TILE; c += ROWS) {
        if (column0 + c < n && row0 + t < m) {
            y[(long long)(column0 + c) * m + row0 + t] = tile[t][c];
        }
    }
}

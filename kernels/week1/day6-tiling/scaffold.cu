#include "lab.cuh"

// C = A * B by tiles: c[row][column] is the sum over i of a[row][i] * b[i][column].
//
// A is m x k, B is k x n, C is m x n, all row-major. A block has TILE x TILE threads and makes a tile of C of that size;
// thread (x, y) makes the element in row y and column x of the tile.
// lockstep: block = TILE, TILE
#define TILE 16

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int row = blockIdx.y * TILE + y;
    const int column = blockIdx.x * TILE + x;

    float sum = 0.0f;
    for (int start = 0; start < k; start += TILE) {
        // TODO 1: load one element of A and one of B. The tile of A has its rows from C's row on and its columns from
        // `start` on; the tile of B has its rows from `start` on. What lies outside the matrix is zero.
        tile_a[y][x] = 0.0f;
        tile_b[y][x] = 0.0f;

        // TODO 2: where must all threads of the block wait for each other?

        // TODO 3: add the products of row y of tile_a and column x of tile_b to the sum.
    }

    if (row < m && column < n) {
        c[row * n + column] = sum;
    }
}

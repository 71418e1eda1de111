#include "lab.cuh"

// C = A * B by tiles. A block of TILE x TILE threads makes a tile of C; it walks along A's rows and down B's columns
// in steps of a tile, and every element that it loads from global memory is used TILE times from shared memory.
//
// A is m x k, B is k x n, C is m x n, all row-major and of any size: what a tile holds beyond the end of a matrix is
// zero, which adds nothing to a sum.
// lockstep: block = TILE, TILE
#define TILE 16

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    //@ shared
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];
    //@ end
    //@ coordinates
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int row = blockIdx.y * TILE + y;
    const int column = blockIdx.x * TILE + x;
    //@ end

    float sum = 0.0f;
    //@ loop
    for (int start = 0; start < k; start += TILE) {
        //@ load
        // Every thread loads one element of each tile. All threads take part, also those with no element of C.
        const bool in_a = row < m && start + x < k;
        const bool in_b = start + y < k && column < n;
        tile_a[y][x] = in_a ? a[row * k + start + x] : 0.0f;
        tile_b[y][x] = in_b ? b[(start + y) * n + column] : 0.0f;
        //@ end
        __syncthreads(); // the tiles are complete

        //@ use
        for (int i = 0; i < TILE; i++) {
            sum += tile_a[y][i] * tile_b[i][x];
        }
        //@ end
        __syncthreads(); // nobody needs them any more
    }
    //@ end

    if (row < m && column < n) {
        c[row * n + column] = sum;
    }
}

#include "lab.cuh"

// C = A * B, each thread making 4 x 4 elements of C in registers.
//
// A block of 16 x 16 threads owns a tile of 64 x 64 elements of C. Thread (x, y) owns the rows y, y + 16, y + 32 and
// y + 48 of the tile and the columns x, x + 16, x + 32 and x + 48. Along k the block goes in steps of DEPTH.
// Block and tile are yours to change; the two lines below tell Lockstep what to launch.
// lockstep: block = 16, 16
// lockstep: grid = ceil_div(n, TILE), ceil_div(m, TILE)
#define TILE 64
#define DEPTH 16

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float tile_a[TILE][DEPTH];
    __shared__ float tile_b[DEPTH][TILE];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int thread = 16 * y + x;
    const int first_row = blockIdx.y * TILE;
    const int first_column = blockIdx.x * TILE;

    float sum[4][4] = {};
    for (int start = 0; start < k; start += DEPTH) {
        // TODO 1: the 256 threads load TILE * DEPTH elements of A and as many of B, each thread several of each.
        // Which row and column of its tile does element number e have, for e = thread, thread + 256, ...?

        __syncthreads();

        // TODO 2: for each of the DEPTH steps, read this thread's 4 elements of tile_a and 4 of tile_b into registers,
        // and add their 16 products to sum.

        __syncthreads();
    }

    // TODO 3: write the 16 sums to C, those that lie inside.
}

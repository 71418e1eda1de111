#include "lab.cuh"

// y = x transposed: y[c][r] = x[r][c]. x has rows x columns elements, y has columns x rows, both row-major.
//
// A block of TILE x TILE threads loads a tile of x into shared memory and writes it to y, transposed.
// lockstep: block = TILE, TILE
#define TILE 16

extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns)
{
    __shared__ float tile[TILE][TILE];

    const int row = blockIdx.y * TILE + threadIdx.y;
    const int column = blockIdx.x * TILE + threadIdx.x;
    // TODO 1: load the element at (row, column) of x into the tile, if there is one. Then wait for all threads.

    // TODO 2: the place in y that this thread writes. The block's tile of y begins at another corner than its tile of x.
    const int out_row = 0;
    const int out_column = 0;

    // TODO 3: take an element from the tile, so that the tile is transposed, and store it, if that place is inside y.
}

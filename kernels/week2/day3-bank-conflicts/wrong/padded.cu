#include "lab.cuh"

// y = x transposed, by tiles of 96 x 128 floats. The launch is fixed: a block of 32 x 16 threads for each tile, and
// 49,152 bytes of shared memory for it, which is the tile and nothing more.
#define ROWS 96
#define COLUMNS 128

// Where element (r, c) of the tile is kept.
__device__ int place(int r, int c)
{
    // The 32 lanes that read a column have 32 different r % 32. The exclusive or changes the last five bits of c only.
    return (COLUMNS + 1) * r + c;
}

extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns)
{
    extern __shared__ float tile[];  // ROWS * COLUMNS floats: the launch gives no byte more
    const int row0 = blockIdx.y * ROWS, column0 = blockIdx.x * COLUMNS;

    for (int r = threadIdx.y; r < ROWS; r += 16) {
        for (int c = threadIdx.x; c < COLUMNS; c += 32) {
            if (row0 + r < rows && column0 + c < columns) {
                tile[place(r, c)] = x[(row0 + r) * columns + column0 + c];
            }
        }
    }
    __syncthreads();

    for (int c = threadIdx.y; c < COLUMNS; c += 16) {
        for (int r = threadIdx.x; r < ROWS; r += 32) {
            if (row0 + r < rows && column0 + c < columns) {
                y[(column0 + c) * rows + row0 + r] = tile[place(r, c)];
            }
        }
    }
}

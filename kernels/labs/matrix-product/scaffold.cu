#include "lab.cuh"

// y = leaky_relu(x * w + bias). A block makes TILE x TILE elements of y, a thread 4 x 4 of them: rows ty + 16 * i, columns
// tx + 16 * j.
// lockstep: linear.block = 256
// lockstep: linear.grid = ceil_div(n, TILE), ceil_div(m, TILE)
#define TILE 64
#define DEPTH 16

extern "C" __global__ void linear(const float* x, const float* w, const float* bias, float* y, int m, int n, int k)
{
    __shared__ float tile_x[TILE][DEPTH + 1], tile_w[DEPTH][TILE];
    const int thread = threadIdx.x, tx = thread % 16, ty = thread / 16;
    const int first_row = blockIdx.y * TILE, first_column = blockIdx.x * TILE;
    float sum[4][4] = {};

    for (int start = 0; start < k; start += DEPTH) {
        // TODO 1: load the tiles, with zeros outside of the matrices.

        __syncthreads();
        // TODO 2: DEPTH products for each of the 16 sums.

        __syncthreads();
    }

    // TODO 3: bias, leaky ReLU, store.
}

// Blocks of 32 x 8 load four rows each, and store one.
// rejected for: tail_missing
// leads to: was never written
#include "lab.cuh"
// lockstep: block = 32, 8
// lockstep: grid = ceil_div(columns, 32), ceil_div(rows, 32)
extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns)
{
    __shared__ float tile[32][33];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (r + j < rows && c < columns) tile[threadIdx.y + j][threadIdx.x] = x[(r + j) * columns + c];
    __syncthreads();
    c = blockIdx.y * 32 + threadIdx.x; r = blockIdx.x * 32 + threadIdx.y;
    if (r < columns && c < rows) y[r * rows + c] = tile[threadIdx.x][threadIdx.y];
}

// A tile of 32 x 32 without padding: the column is exchanged by the row, four rows a thread.
#include "lab.cuh"
// lockstep: block = 32, 8
// lockstep: grid = ceil_div(columns, 32), ceil_div(rows, 32)
extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns)
{
    __shared__ float tile[32][32];
    // no pad: the column is turned by the row (a swizzle)
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (r + j < rows && c < columns) tile[threadIdx.y + j][threadIdx.x ^ (threadIdx.y + j)] = x[(r + j) * columns + c];
    __syncthreads();
    c = blockIdx.y * 32 + threadIdx.x; r = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (r + j < columns && c < rows) y[(r + j) * rows + c] = tile[threadIdx.x][(threadIdx.y + j) ^ threadIdx.x];
}

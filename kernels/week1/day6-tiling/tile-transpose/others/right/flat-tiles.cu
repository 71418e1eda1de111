// Tiles of 8 x 32, read by another numbering of the threads.
// does not reach: Without a conflict
#include "lab.cuh"
// lockstep: block = 32, 8
// lockstep: grid = ceil_div(columns, 32), ceil_div(rows, 8)
extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns)
{
    __shared__ float t[8][33];
    const int r0 = blockIdx.y * 8, c0 = blockIdx.x * 32, id = threadIdx.y * 32 + threadIdx.x;
    if (r0 + threadIdx.y < rows && c0 + threadIdx.x < columns) t[threadIdx.y][threadIdx.x] = x[(r0 + threadIdx.y) * columns + c0 + threadIdx.x];
    __syncthreads();
    const int h = id / 8, w = id % 8;
    if (c0 + h < columns && r0 + w < rows) y[(c0 + h) * rows + r0 + w] = t[w][h];
}

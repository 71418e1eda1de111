// The tile of week 1: padded, without the engine.
// does not reach: In and out by boxes
// does not reach: Without a bank conflict
#include "lab.cuh"
// lockstep: block = 32, 8
// lockstep: grid = ceil_div(columns, 32), ceil_div(rows, 32)
extern "C" __global__ void transpose(const float* x, float* y, const __grid_constant__ CUtensorMap x_map, const __grid_constant__ CUtensorMap y_map, int rows, int columns)
{
    __shared__ float tile[32][33];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        if (c < columns && r + i < rows) tile[threadIdx.y + i][threadIdx.x] = x[(r + i) * columns + c];
    __syncthreads();
    c = blockIdx.y * 32 + threadIdx.x, r = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        if (c < rows && r + i < columns) y[(r + i) * rows + c] = tile[threadIdx.x][threadIdx.y + i];
}

// Stores float4 into rows of 33.
// rejected for: misaligned
// leads to: rows of 33 floats
#include "lab.cuh"
// lockstep: block = 32, 8
// lockstep: grid = ceil_div(columns, 32), ceil_div(rows, 32)
extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns)
{
    __shared__ float tile[32][33];
    const int t = threadIdx.y * 32 + threadIdx.x, r = t / 8, c = t % 8 * 4;
    for (int k = 0; k < 4; k++) {
        const int row = blockIdx.y * 32 + r, column = blockIdx.x * 32 + c + k;
        if (k == 0 && columns % 4 == 0 && row < rows && column + 3 < columns) {
            *reinterpret_cast<float4*>(&tile[r][c]) = *reinterpret_cast<const float4*>(&x[row * columns + column]);
            break;
        }
        if (row < rows && column < columns) tile[r][c + k] = x[row * columns + column];
    }
    __syncthreads();
    const int out_column = blockIdx.y * 32 + threadIdx.x;
    for (int step = threadIdx.y; step < 32; step += 8) {
        const int out_row = blockIdx.x * 32 + step;
        if (out_row < columns && out_column < rows) {
            y[out_row * rows + out_column] = tile[threadIdx.x][step];
        }
    }
}

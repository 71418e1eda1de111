#include "lab.cuh"

// The same, with 24 loads of a thread in flight at once where the tile is whole.
#define ROWS 96
#define COLUMNS 128

__device__ int place(int r, int c)
{
    return COLUMNS * r + (c ^ (r % 32));
}

extern "C" __global__ void __launch_bounds__(512) transpose(const float* __restrict__ x, float* __restrict__ y,
                                                            int rows, int columns)
{
    extern __shared__ float tile[];  // ROWS * COLUMNS floats: the launch gives no byte more
    const int row0 = blockIdx.y * ROWS, column0 = blockIdx.x * COLUMNS;
    const int lane = threadIdx.x, warp = threadIdx.y;

    if (row0 + ROWS <= rows && column0 + COLUMNS <= columns) {
        const float* from = x + (long long)(row0 + warp) * columns + column0 + lane;
        float v[6][4];
#pragma unroll
        for (int i = 0; i < 6; i++) {
#pragma unroll
            for (int j = 0; j < 4; j++) {
                v[i][j] = from[(long long)16 * i * columns + 32 * j];
            }
        }
#pragma unroll
        for (int i = 0; i < 6; i++) {
#pragma unroll
            for (int j = 0; j < 4; j++) {
                tile[place(warp + 16 * i, lane + 32 * j)] = v[i][j];
            }
        }
        __syncthreads();
        float* to = y + (long long)(column0 + warp) * rows + row0 + lane;
#pragma unroll
        for (int i = 0; i < 8; i++) {
#pragma unroll
            for (int j = 0; j < 3; j++) {
                __stcs(to + (long long)16 * i * rows + 32 * j, tile[place(lane + 32 * j, warp + 16 * i)]);
            }
        }
        return;
    }

    for (int r = warp; r < ROWS; r += 16) {
        for (int c = lane; c < COLUMNS; c += 32) {
            if (row0 + r < rows && column0 + c < columns) {
                tile[place(r, c)] = x[(long long)(row0 + r) * columns + column0 + c];
            }
        }
    }
    __syncthreads();
    for (int c = warp; c < COLUMNS; c += 16) {
        for (int r = lane; r < ROWS; r += 32) {
            if (row0 + r < rows && column0 + c < columns) {
                y[(long long)(column0 + c) * rows + row0 + r] = tile[place(r, c)];
            }
        }
    }
}

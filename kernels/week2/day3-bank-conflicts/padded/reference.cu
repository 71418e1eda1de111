#include "lab.cuh"

// The padded tile with 64 columns: eight loads of a thread are in flight at once where the tile is whole, and a warp
// stores rows of y from both halves.
// lockstep: block = 32, 8
// lockstep: grid = ceil_div(columns, 64), ceil_div(rows, 32)

extern "C" __global__ void __launch_bounds__(256) transpose(const float* __restrict__ x, float* __restrict__ y,
                                                            int rows, int columns)
{
    __shared__ float tile[32][65];
    const int row0 = blockIdx.y * 32, column0 = blockIdx.x * 64;
    const int t = threadIdx.x, w = threadIdx.y;

    if (row0 + 32 <= rows && column0 + 64 <= columns) {
        float v[4][2];
        const float* from = x + (long long)(row0 + w) * columns + column0 + t;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            v[i][0] = from[(long long)8 * i * columns];
            v[i][1] = from[(long long)8 * i * columns + 32];
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            tile[w + 8 * i][t] = v[i][0];
            tile[w + 8 * i][t + 32] = v[i][1];
        }
        __syncthreads();
        float* to = y + (long long)(column0 + w) * rows + row0 + t;
#pragma unroll
        for (int i = 0; i < 8; i++) {
            __stcs(to + (long long)8 * i * rows, tile[t][w + 8 * i]);
        }
        return;
    }

    for (int r = w; r < 32; r += 8) {
        for (int c = t; c < 64; c += 32) {
            if (row0 + r < rows && column0 + c < columns) {
                tile[r][c] = x[(long long)(row0 + r) * columns + column0 + c];
            }
        }
    }
    __syncthreads();
    for (int c = w; c < 64; c += 8) {
        if (column0 + c < columns && row0 + t < rows) {
            y[(long long)(column0 + c) * rows + row0 + t] = tile[t][c];
        }
    }
}

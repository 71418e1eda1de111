// 64 x 64 of C for a block, 4 x 4 for a thread, tiles widened to float: few loads, and no matrix instruction.
// does not reach: Fragments
// does not reach: A fragment used twice
#include "lab.cuh"

// lockstep: block = 256
// lockstep: grid = ceil_div(n, 64), ceil_div(m, 64)

extern "C" __global__ void mma_tile(const uint16_t* a, const uint16_t* b, float* c, int m, int n, int k)
{
    __shared__ float left[16][65], right[16][65];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const int top = blockIdx.y * 64, first = blockIdx.x * 64;
    float sum[4][4] = {};
    for (int from = 0; from < k; from += 16) {
        for (int i = threadIdx.x; i < 64 * 16; i += 256) {
            const int row = i / 16, x = i % 16;
            const bool in_a = top + row < m && from + x < k, in_b = first + row < n && from + x < k;
            left[x][row] = in_a ? __uint_as_float(static_cast<uint32_t>(a[(top + row) * k + from + x]) << 16) : 0.0f;
            right[x][row] = in_b ? __uint_as_float(static_cast<uint32_t>(b[(first + row) * k + from + x]) << 16) : 0.0f;
        }
        __syncthreads();
        for (int x = 0; x < 16; ++x)
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j) sum[i][j] += left[x][ty + 16 * i] * right[x][tx + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            const int row = top + ty + 16 * i, column = first + tx + 16 * j;
            if (row < m && column < n) c[row * n + column] = sum[i][j];
        }
}

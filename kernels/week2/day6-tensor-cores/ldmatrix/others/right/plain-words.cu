// Reads fragments word by word from padded rows, with no ldmatrix.
// does not reach: A larger tile
#include "mma.cuh"

// lockstep: block = 128
// lockstep: grid = ceil_div(n, 64), ceil_div(m, 64)
constexpr int WIDTH = 36; // words a row: 32, and 4 more that move each row by four banks

extern "C" __global__ void tile_product(const uint16_t* a, const uint16_t* b, float* c, int m, int n, int k)
{
    __shared__ uint32_t ta[64][WIDTH], tb[64][WIDTH];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    const int row0 = blockIdx.y * 64, col0 = blockIdx.x * 64, wr = warp / 2 * 32, wc = warp % 2 * 32;
    auto word = [&](const uint16_t* p, int r, int x, int rows) {
        uint32_t low = r < rows && x < k ? p[r * k + x] : 0, high = r < rows && x + 1 < k ? p[r * k + x + 1] : 0;
        return low | high << 16;
    };
    float d[2][4][4] = {};
    for (int start = 0; start < k; start += 64) {
        for (int i = threadIdx.x; i < 64 * 32; i += 128) {
            ta[i / 32][i % 32] = word(a, row0 + i / 32, start + i % 32 * 2, m);
            tb[i / 32][i % 32] = word(b, col0 + i / 32, start + i % 32 * 2, n);
        }
        __syncthreads();
        for (int w = t; w < 32; w += 8) {
            uint32_t fa[2][4];
            for (int i = 0; i < 2; i++)
                for (int r = 0; r < 4; r++) fa[i][r] = ta[wr + 16 * i + g + r % 2 * 8][w + r / 2 * 4];
            for (int j = 0; j < 4; j++) {
                uint32_t b0 = tb[wc + 8 * j + g][w], b1 = tb[wc + 8 * j + g][w + 4];
                for (int i = 0; i < 2; i++) mma_bf16(d[i][j], fa[i], b0, b1);
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            for (int e = 0; e < 4; e++) {
                int r = row0 + wr + 16 * i + g + e / 2 * 8, x = col0 + wc + 8 * j + 2 * t + e % 2;
                if (r < m && x < n) c[r * n + x] = d[i][j][e];
            }
}

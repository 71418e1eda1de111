// No ring and no swizzle: load, wait, multiply, wait.
// does not reach: Past the fp32 roof
// does not reach: Fed in squares
#include "mma.cuh"

// lockstep: block = 128
// lockstep: grid = ceil_div(m, 64) * ceil_div(n, 64)

extern "C" __global__ void matmul(const uint16_t* a, const uint16_t* b, uint16_t* c, int m, int n, int k)
{
    __shared__ __align__(16) uint16_t ta[64][64], tb[64][64];
    const int across = ceil_div(n, 64), row0 = blockIdx.x / across * 64, col0 = blockIdx.x % across * 64;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, wr = warp / 2 * 32, wc = warp % 2 * 32;
    float d[2][4][4] = {};
    for (int x = 0; x < k; x += 64) {
        for (int e = threadIdx.x; e < 64 * 64; e += 128) {
            const int r = e / 64, q = e % 64;
            ta[r][q] = row0 + r < m && x + q < k ? a[(row0 + r) * k + x + q] : 0;
            tb[r][q] = col0 + r < n && x + q < k ? b[(col0 + r) * k + x + q] : 0;
        }
        __syncthreads();
#pragma unroll
        for (int q = 0; q < 64; q += 16) {
            uint32_t fa[2][4], fb[2][4];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                load_matrices(fa[i], shared_address(&ta[wr + 16 * i + lane % 16][q + lane / 16 * 8]));
                load_matrices(fb[i], shared_address(&tb[wc + 16 * i + lane / 16 * 8 + lane % 8][q + lane / 8 % 2 * 8]));
            }
#pragma unroll
            for (int i = 0; i < 2; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) mma_bf16(d[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const int r = row0 + wr + 16 * i + lane / 4, q = col0 + wc + 8 * j + lane % 4 * 2;
            store_pair(c, r, q, m, n, d[i][j][0], d[i][j][1]);
            store_pair(c, r + 8, q, m, n, d[i][j][2], d[i][j][3]);
        }
}

// Stores four sums at once wherever four fit, although rows need not begin at 16 bytes.
// rejected for: misaligned
// leads to: not a multiple of 16
#include "lab.cuh"
// lockstep: block = 16, 16
// lockstep: grid = ceil_div(n, TILE), ceil_div(m, TILE)
#define TILE 64
#define DEPTH 16
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float tile_a[TILE][DEPTH];
    __shared__ float tile_b[DEPTH][TILE];
    const int x = threadIdx.x, y = threadIdx.y, thread = 16 * y + x;
    const int r0 = blockIdx.y * TILE, c0 = blockIdx.x * TILE;
    float4 sum[4] = {};
    for (int start = 0; start < k; start += DEPTH) {
        for (int e = thread; e < TILE * DEPTH; e += 256) {
            int i = e / DEPTH, j = e % DEPTH;
            tile_a[i][j] = r0 + i < m && start + j < k ? a[(r0 + i) * k + start + j] : 0;
            i = e / TILE; j = e % TILE;
            tile_b[i][j] = c0 + j < n && start + i < k ? b[(start + i) * n + c0 + j] : 0;
        }
        __syncthreads();
        for (int d = 0; d < DEPTH; d++) {
            float4 v = *reinterpret_cast<float4*>(&tile_b[d][4 * x]);
            for (int i = 0; i < 4; i++) {
                float u = tile_a[4 * y + i][d];
                sum[i].x += u * v.x; sum[i].y += u * v.y; sum[i].z += u * v.z; sum[i].w += u * v.w;
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        int row = r0 + 4 * y + i, col = c0 + 4 * x;
        if (row < m && col + 3 < n) *reinterpret_cast<float4*>(&c[row * n + col]) = sum[i];
        else if (row < m)
            for (int j = 0; j < 4; j++) if (col + j < n) c[row * n + col + j] = (&sum[i].x)[j];
    }
}

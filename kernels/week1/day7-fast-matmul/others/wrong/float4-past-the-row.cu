// Loads b by float4 although n is not a multiple of four.
// rejected for: misaligned
// leads to: multiple of 16
#include "lab.cuh"
// lockstep: block = 16, 16
// lockstep: grid = ceil_div(n, TILE), ceil_div(m, TILE)
#define TILE 64
#define DEPTH 16
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float tile_a[TILE][DEPTH], tile_b[DEPTH][TILE];
    const int x = threadIdx.x, y = threadIdx.y, thread = 16 * y + x;
    const int first_row = blockIdx.y * TILE, first_column = blockIdx.x * TILE;
    float sum[4][4] = {};
    
    for (int start = 0; start < k; start += DEPTH) {
        for (int e = thread; e < TILE * DEPTH; e += 256) {
            const int row = first_row + e / DEPTH, column = start + e % DEPTH;
            tile_a[e / DEPTH][e % DEPTH] = row < m && column < k ? a[row * k + column] : 0.0f;
        }
        for (int e = thread; e < DEPTH * TILE / 4; e += 256) {
            const int row = start + e / 16, column = first_column + 4 * (e % 16);
            float4 v = row < k && column + 3 < n ? *(const float4*)(b + row * n + column) : float4{};
            *(float4*)&tile_b[e / 16][4 * (e % 16)] = v;
        }
        __syncthreads();
        for (int d = 0; d < DEPTH; d++) {
            float from_a[4], from_b[4];
            for (int i = 0; i < 4; i++) { from_a[i] = tile_a[y + 16 * i][d]; from_b[i] = tile_b[d][x + 16 * i]; }
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) sum[i][j] += from_a[i] * from_b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            const int row = first_row + y + 16 * i, column = first_column + x + 16 * j;
            if (row < m && column < n) c[row * n + column] = sum[i][j];
        }
}

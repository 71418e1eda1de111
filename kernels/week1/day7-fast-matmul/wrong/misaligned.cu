#include "lab.cuh"

// Both tiles are loaded in float4. A row of A begins at row * k, a row of B at row * n: multiples of four floats only
// where 4 divides k and n.
// lockstep: block = 16, 16
// lockstep: grid = ceil_div(n, TILE), ceil_div(m, TILE)
#define TILE 64
#define DEPTH 16

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ __align__(16) float tile_a[TILE][DEPTH];
    __shared__ __align__(16) float tile_b[DEPTH][TILE];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int thread = 16 * y + x;
    const int first_row = blockIdx.y * TILE;
    const int first_column = blockIdx.x * TILE;

    float sum[4][4] = {};
    for (int start = 0; start < k; start += DEPTH) {
        const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        const int e = 4 * thread;
        const int a_row = first_row + e / DEPTH, a_column = start + e % DEPTH;
        const bool in_a = a_row < m && a_column + 3 < k;
        *reinterpret_cast<float4*>(&tile_a[e / DEPTH][e % DEPTH]) =
            in_a ? *reinterpret_cast<const float4*>(a + a_row * k + a_column) : zero;
        const int b_row = start + e / TILE, b_column = first_column + e % TILE;
        const bool in_b = b_row < k && b_column + 3 < n;
        *reinterpret_cast<float4*>(&tile_b[e / TILE][e % TILE]) =
            in_b ? *reinterpret_cast<const float4*>(b + b_row * n + b_column) : zero;
        __syncthreads();

        for (int d = 0; d < DEPTH; d++) {
            float from_a[4], from_b[4];
            for (int i = 0; i < 4; i++) {
                from_a[i] = tile_a[y + 16 * i][d];
                from_b[i] = tile_b[d][x + 16 * i];
            }
            for (int i = 0; i < 4; i++) {
                for (int j = 0; j < 4; j++) {
                    sum[i][j] += from_a[i] * from_b[j];
                }
            }
        }
        __syncthreads();
    }

    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            const int row = first_row + y + 16 * i, column = first_column + x + 16 * j;
            if (row < m && column < n) {
                c[row * n + column] = sum[i][j];
            }
        }
    }
}

#include "lab.cuh"

// C = A * B, each thread making 4 x 4 elements of C in registers.
//
// A block of 16 x 16 threads owns a tile of 64 x 64 elements of C. A thread reads 8 floats from shared memory for 16
// multiply-adds, and a float that the block loads from global memory is used 64 times. reference.cu goes further.
// lockstep: block = 16, 16
// lockstep: grid = ceil_div(n, TILE), ceil_div(m, TILE)
#define TILE 64
#define DEPTH 16

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float tile_a[TILE][DEPTH];
    __shared__ float tile_b[DEPTH][TILE];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int thread = 16 * y + x;
    const int first_row = blockIdx.y * TILE;
    const int first_column = blockIdx.x * TILE;

    float sum[4][4] = {};
    for (int start = 0; start < k; start += DEPTH) {
        //@ load
        // Neighboring threads load neighboring elements of a row, in both tiles.
        for (int e = thread; e < TILE * DEPTH; e += 256) {
            const int row = first_row + e / DEPTH, column = start + e % DEPTH;
            tile_a[e / DEPTH][e % DEPTH] = row < m && column < k ? a[row * k + column] : 0.0f;
        }
        for (int e = thread; e < DEPTH * TILE; e += 256) {
            const int row = start + e / TILE, column = first_column + e % TILE;
            tile_b[e / TILE][e % TILE] = row < k && column < n ? b[row * n + column] : 0.0f;
        }
        //@ end
        __syncthreads();

        //@ outer
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
        //@ end
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

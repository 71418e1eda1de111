// C = A * B^T in floats, multiplied in tf32: m16n8k8, a product of 16 x 8 x 8. A warp makes TILES tiles side by side.
#include "mma.cuh"

// lockstep: block = 32
// lockstep: grid = ceil_div(n, 8 * TILES), ceil_div(m, 16)
#define TILES 1

// One element as the 32 bits that the tensor core wants; zero outside of the matrix.
__device__ inline uint32_t element(const float* matrix, int row, int x, int rows, int k)
{
    return row < rows && x < k ? round_tf32(__float_as_uint(matrix[row * k + x])) : 0;
}

extern "C" __global__ void eight_deep(const float* a, const float* b, float* c, int m, int n, int k)
{
    //@ lane
    const int g = threadIdx.x / 4; // the lane's group, 0 to 7
    const int t = threadIdx.x % 4; // its place in the group, 0 to 3
    //@ end
    const int first_row = blockIdx.y * 16, first_column = blockIdx.x * 8 * TILES;
    float d[TILES][4] = {};
    for (int x = 0; x < k; x += 8) {
        //@ a
        const uint32_t from_a[4] = {
            element(a, first_row + g, x + t, m, k),     // 0: row g, column t
            element(a, first_row + g + 8, x + t, m, k), // 1: eight rows down
            element(a, first_row + g, x + t + 4, m, k), // 2: four columns to the right
            element(a, first_row + g + 8, x + t + 4, m, k), // 3: both
        };
        //@ end
#pragma unroll
        for (int tile = 0; tile < TILES; tile++) {
            const int column = first_column + 8 * tile + g;
            //@ b
            const uint32_t b0 = element(b, column, x + t, n, k);     // row t of a column of B^T: along a row of B
            const uint32_t b1 = element(b, column, x + t + 4, n, k); // four further along k
            mma_tf32(d[tile], from_a, b0, b1);
            //@ end
        }
    }
#pragma unroll
    for (int tile = 0; tile < TILES; tile++) {
        store_pair(c, first_row + g, first_column + 8 * tile + 2 * t, m, n, d[tile][0], d[tile][1]);
        store_pair(c, first_row + g + 8, first_column + 8 * tile + 2 * t, m, n, d[tile][2], d[tile][3]);
    }
}

// Loads the lower row first.
// rejected for: wrong_output
// leads to: are exchanged
#include "mma.cuh"

// lockstep: block = 32
// lockstep: grid = ceil_div(n, 8), ceil_div(m, 16)

// Elements x to x + 3 of a row in one register, x in the lowest byte; zeros outside of the matrix.
__device__ inline uint32_t four(const uint8_t* matrix, int row, int x, int rows, int k)
{
    uint32_t word = 0;
    for (int e = 0; e < 4; e++) {
        const uint32_t element = row < rows && x + e < k ? matrix[row * k + x + e] : 0;
        word |= element << (8 * e);
    }

    return word;
}

extern "C" __global__ void mma_bytes(const uint8_t* a, const uint8_t* b, float* c, int m, int n, int k)
{
    const int g = threadIdx.x / 4; // the lane's group, 0 to 7
    const int t = threadIdx.x % 4; // its place in the group
    const int first_row = blockIdx.y * 16;
    const int first_column = blockIdx.x * 8;

    float d[4] = {};
    for (int x = 0; x < k; x += 32) {
        const uint32_t from_a[4] = {
            four(a, first_row + g + 8, x + 4 * t, m, k), four(a, first_row + g, x + 4 * t, m, k),
            four(a, first_row + g + 8, x + 4 * t + 16, m, k), four(a, first_row + g, x + 4 * t + 16, m, k)};
        mma_e4m3(d, from_a, four(b, first_column + g, x + 4 * t, n, k), four(b, first_column + g, x + 4 * t + 16, n, k));
    }

    store_pair(c, first_row + g, first_column + 2 * t, m, n, d[0], d[1]);
    store_pair(c, first_row + g + 8, first_column + 2 * t, m, n, d[2], d[3]);
}

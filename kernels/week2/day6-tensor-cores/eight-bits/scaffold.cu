// C = A * B^T with one warp for each 16 x 8 tile of C. A is m x k, B is n x k, both e4m3, a byte an element; C is m x n, float.
#include "mma.cuh"

// lockstep: block = 32
// lockstep: grid = ceil_div(n, 8), ceil_div(m, 16)

// Elements x to x + 3 of a row in one register, x in the lowest byte; zeros outside of the matrix.
__device__ inline uint32_t four(const uint8_t* matrix, int row, int x, int rows, int k)
{
    uint32_t word = 0;
    // TODO 1: four bytes into one word, the one with the smallest k lowest.

    return word;
}

extern "C" __global__ void mma_bytes(const uint8_t* a, const uint8_t* b, float* c, int m, int n, int k)
{
    const int g = threadIdx.x / 4; // the lane's group, 0 to 7
    const int t = threadIdx.x % 4; // its place in the group
    const int first_row = blockIdx.y * 16;
    const int first_column = blockIdx.x * 8;

    float d[4] = {};
    // TODO 2: the loop along k, 32 elements a step, with mma_e4m3(d, from_a, b0, b1). A register holds four elements:
    // where does a lane's first four begin, and where the second four?

    store_pair(c, first_row + g, first_column + 2 * t, m, n, d[0], d[1]);
    store_pair(c, first_row + g + 8, first_column + 2 * t, m, n, d[2], d[3]);
}

// Multiplies the codes as whole numbers.
// rejected for: wrong_output
// leads to: codes of e4m3
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
            four(a, first_row + g, x + 4 * t, m, k), four(a, first_row + g + 8, x + 4 * t, m, k),
            four(a, first_row + g, x + 4 * t + 16, m, k), four(a, first_row + g + 8, x + 4 * t + 16, m, k)};
        int s[4] = {};
        const uint32_t b0 = four(b, first_column + g, x + 4 * t, n, k), b1 = four(b, first_column + g, x + 4 * t + 16, n, k);
        asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+r"(s[0]), "+r"(s[1]), "+r"(s[2]), "+r"(s[3])
                     : "r"(from_a[0]), "r"(from_a[1]), "r"(from_a[2]), "r"(from_a[3]), "r"(b0), "r"(b1));
        for (int i = 0; i < 4; i++) d[i] += s[i];
    }

    store_pair(c, first_row + g, first_column + 2 * t, m, n, d[0], d[1]);
    store_pair(c, first_row + g + 8, first_column + 2 * t, m, n, d[2], d[3]);
}

// Stores the results by columns.
// rejected for: moved_output
// leads to: d[0] and d[1] are neighbors in a row
#include "mma.cuh"

// lockstep: block = 32
// lockstep: grid = ceil_div(n, 8), ceil_div(m, 16)

// Elements x and x + 1 of a row in one register, x in the low half; zeros outside of the matrix.
__device__ inline uint32_t pair(const uint16_t* matrix, int row, int x, int rows, int k)
{
    if (row >= rows) return 0;
    const uint32_t low = x < k ? matrix[row * k + x] : 0;
    const uint32_t high = x + 1 < k ? matrix[row * k + x + 1] : 0;
    return low | high << 16;
}

extern "C" __global__ void mma_tile(const uint16_t* a, const uint16_t* b, float* c, int m, int n, int k)
{
    const int g = threadIdx.x / 4; // the lane's group, 0 to 7
    const int t = threadIdx.x % 4; // its place in the group
    const int first_row = blockIdx.y * 16;
    const int first_column = blockIdx.x * 8;

    float d[4] = {};
    for (int x = 0; x < k; x += 16) {
        uint32_t from_a[4] = {};
        uint32_t from_b[2] = {};
        from_a[0] = pair(a, first_row + g, x + 2 * t, m, k);
        from_a[1] = pair(a, first_row + g + 8, x + 2 * t, m, k);
        from_a[2] = pair(a, first_row + g, x + 2 * t + 8, m, k);
        from_a[3] = pair(a, first_row + g + 8, x + 2 * t + 8, m, k);
        from_b[0] = pair(b, first_column + g, x + 2 * t, n, k);
        from_b[1] = pair(b, first_column + g, x + 2 * t + 8, n, k);

        mma_bf16(d, from_a, from_b[0], from_b[1]);
    }

    for (int i = 0; i < 4; i++) {
        const int row = first_row + 2 * t + i % 2 + i / 2 * 8;
        const int column = first_column + g;
        if (row < m && column < n) {
            c[row * n + column] = d[i];
        }
    }
}

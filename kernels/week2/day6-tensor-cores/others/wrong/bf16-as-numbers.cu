// Takes the bits of a bf16 for a whole number.
// rejected for: nan_output
// leads to: it began with a sum of products on the tensor cores
// C = A * B^T with one warp for each 16 x 8 tile of C. A is m x k, B is n x k, both bf16; C is m x n, float.
//
// Three ways people write TODO 1: six calls, as here; a loop over registers r with row g + r % 2 * 8 and place r / 2 * 8, which
// unrolls to the same code; or a 4-byte load for each pair where k is even, half as many loads.
#include "mma.cuh"

// lockstep: block = 32
// lockstep: grid = ceil_div(n, 8), ceil_div(m, 16)

// Elements x and x + 1 of a row in one register, x in the low half; zeros outside of the matrix.
__device__ inline uint32_t pair(const uint16_t* matrix, int row, int x, int rows, int k)
{
    if (row >= rows) return 0;
    const uint32_t low = x < k ? matrix[row * k + x] : 0;
    const uint32_t high = x + 1 < k ? matrix[row * k + x + 1] : 0;
    return __float_as_uint((float)low) >> 16 | __float_as_uint((float)high);
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
        //@ load
        from_a[0] = pair(a, first_row + g, x + 2 * t, m, k);
        from_a[1] = pair(a, first_row + g + 8, x + 2 * t, m, k);
        from_a[2] = pair(a, first_row + g, x + 2 * t + 8, m, k);
        from_a[3] = pair(a, first_row + g + 8, x + 2 * t + 8, m, k);
        from_b[0] = pair(b, first_column + g, x + 2 * t, n, k);
        from_b[1] = pair(b, first_column + g, x + 2 * t + 8, n, k);
        //@ end

        mma_bf16(d, from_a, from_b[0], from_b[1]);
    }

    //@ store
    for (int i = 0; i < 4; i++) {
        const int row = first_row + g + i / 2 * 8;
        const int column = first_column + 2 * t + i % 2;
        if (row < m && column < n) {
            c[row * n + column] = d[i];
        }
    }
    //@ end
}

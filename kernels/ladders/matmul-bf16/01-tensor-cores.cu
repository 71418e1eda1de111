// C = A * B^T on tensor cores, straight from global memory.
//
// All rungs: A is m x k, B is n x k, C is m x n, row-major bf16, sums in fp32: C[i][j] = sum over l of A[i][l] *
// B[j][l]. B is stored as a linear layer stores its weights; both operands then have K along their rows, as the tensor
// cores want it.
//
// lockstep: block = 32, 4
// lockstep: grid = ceil_div(n, 16), ceil_div(m, 32)
//
// What this rung does: one warp makes one 16 x 8 tile of C with mma.sync, four warps a 32 x 16 tile. Every fragment
// comes from global memory two elements at a time, so each 4096 FMAs of a warp cost 12 loads of 4 bytes a thread, and
// the tensor cores wait.
#include "mma.cuh"

// Elements x and x + 1 of a row, zero outside. k may be odd, so rows need not start at a multiple of 4 bytes.
__device__ inline uint32_t load_pair(const uint16_t* matrix, int row, int x, int rows, int k)
{
    if (row >= rows) return 0;
    const uint16_t* from = matrix + static_cast<int64_t>(row) * k + x;
    uint32_t low = x < k ? from[0] : 0, high = x + 1 < k ? from[1] : 0;
    return low | high << 16;
}

extern "C" __global__ void matmul(const uint16_t* a, const uint16_t* b, uint16_t* c, int m, int n, int k)
{
    int warp = threadIdx.y, lane = threadIdx.x;
    int row = blockIdx.y * 32 + warp / 2 * 16 + lane / 4;
    int column = blockIdx.x * 16 + warp % 2 * 8;
    float d[4] = {};
    for (int x = lane % 4 * 2; x < round_up(k, 16); x += 16) {
        uint32_t fragment[4] = {load_pair(a, row, x, m, k), load_pair(a, row + 8, x, m, k), load_pair(a, row, x + 8, m, k),
                                load_pair(a, row + 8, x + 8, m, k)};
        mma_bf16(d, fragment, load_pair(b, column + lane / 4, x, n, k), load_pair(b, column + lane / 4, x + 8, n, k));
    }
    store_pair(c, row, column + lane % 4 * 2, m, n, d[0], d[1]);
    store_pair(c, row + 8, column + lane % 4 * 2, m, n, d[2], d[3]);
}

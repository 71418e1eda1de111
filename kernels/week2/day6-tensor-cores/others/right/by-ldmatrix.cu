// The warp puts its piece of A into shared memory and reads the fragment with ldmatrix.
// does not reach: A fragment used twice
#include "mma.cuh"

// lockstep: block = 32
// lockstep: grid = ceil_div(n, 8), ceil_div(m, 16)

extern "C" __global__ void mma_tile(const uint16_t* a, const uint16_t* b, float* c, int m, int n, int k)
{
    __shared__ __align__(16) uint16_t tile[24][16]; // 16 rows of A, then 8 of B
    const int lane = threadIdx.x, top = blockIdx.y * 16, left = blockIdx.x * 8;
    float d[4] = {};
    for (int x = 0; x < k; x += 16) {
        for (int e = lane; e < 24 * 16; e += 32) {
            const int r = e / 16, s = x + e % 16;
            const bool of_a = r < 16;
            const int row = of_a ? top + r : left + r - 16;
            tile[r][e % 16] = row < (of_a ? m : n) && s < k ? (of_a ? a : b)[row * k + s] : 0;
        }
        __syncwarp();
        uint32_t fa[4], fb[4];
        load_matrices(fa, shared_address(&tile[lane % 16][lane / 16 * 8]));
        load_matrices(fb, shared_address(&tile[16 + lane % 8][lane / 8 % 2 * 8]));
        mma_bf16(d, fa, fb[0], fb[1]);
        __syncwarp();
    }
    store_pair(c, top + lane / 4, left + lane % 4 * 2, m, n, d[0], d[1]);
    store_pair(c, top + lane / 4 + 8, left + lane % 4 * 2, m, n, d[2], d[3]);
}

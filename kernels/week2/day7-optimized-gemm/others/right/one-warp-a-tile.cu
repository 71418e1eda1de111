// One warp for each 16 x 8 tile, straight from global memory, as on day 6.
// does not reach: Past the fp32 roof
// does not reach: Fed in squares
#include "mma.cuh"

// lockstep: block = 32, 4
// lockstep: grid = ceil_div(n, 8), ceil_div(m, 64)

extern "C" __global__ void matmul(const uint16_t* a, const uint16_t* b, uint16_t* c, int m, int n, int k)
{
    const int g = threadIdx.x / 4, t = threadIdx.x % 4, row = (blockIdx.y * 4 + threadIdx.y) * 16 + g, column = blockIdx.x * 8;
    auto two = [&](const uint16_t* p, int r, int x, int rows) -> uint32_t {
        uint32_t low = r < rows && x < k ? p[r * k + x] : 0, high = r < rows && x + 1 < k ? p[r * k + x + 1] : 0;
        return low | high << 16;
    };
    float d[4] = {};
    for (int x = 2 * t; x < k + 2 * t; x += 16) {
        uint32_t fa[4] = {two(a, row, x, m), two(a, row + 8, x, m), two(a, row, x + 8, m), two(a, row + 8, x + 8, m)};
        mma_bf16(d, fa, two(b, column + g, x, n), two(b, column + g, x + 8, n));
    }
    store_pair(c, row, column + 2 * t, m, n, d[0], d[1]);
    store_pair(c, row + 8, column + 2 * t, m, n, d[2], d[3]);
}

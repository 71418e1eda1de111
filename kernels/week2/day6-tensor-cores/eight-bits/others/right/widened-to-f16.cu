// Widens e4m3 to f16 in registers and multiplies with m16n8k16.
// does not reach: A fragment used twice
#include "mma.cuh"

// lockstep: block = 32
// lockstep: grid = ceil_div(n, 8), ceil_div(m, 16)

__device__ uint32_t two(const uint8_t* p, int r, int x, int rows, int k)
{
    uint16_t codes = 0;
    if (r < rows) codes = (x < k ? p[r * k + x] : 0) | (x + 1 < k ? p[r * k + x + 1] : 0) << 8;
    uint32_t wide;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(wide) : "h"(codes));
    return wide;
}

extern "C" __global__ void mma_bytes(const uint8_t* a, const uint8_t* b, float* c, int m, int n, int k)
{
    int lane = threadIdx.x, row = blockIdx.y * 16 + lane / 4, column = blockIdx.x * 8, x0 = lane % 4 * 2;
    float d[4] = {};
    for (int x = x0; x - x0 < k; x += 16) {
        uint32_t a0 = two(a, row, x, m, k), a1 = two(a, row + 8, x, m, k), a2 = two(a, row, x + 8, m, k), a3 = two(a, row + 8, x + 8, m, k);
        uint32_t b0 = two(b, column + lane / 4, x, n, k), b1 = two(b, column + lane / 4, x + 8, n, k);
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    }
    store_pair(c, row, column + x0, m, n, d[0], d[1]);
    store_pair(c, row + 8, column + x0, m, n, d[2], d[3]);
}

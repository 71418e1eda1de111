// Writes the instruction itself, and reads pairs as words where rows allow it.
// does not reach: A fragment used twice
#include "lab.cuh"

// lockstep: block = 32
// lockstep: grid = ceil_div(n, 8), ceil_div(m, 16)

__device__ unsigned two(const uint16_t* p, int r, int x, int rows, int k)
{
    if (r >= rows || x >= k) return 0u;
    const uint16_t* at = p + r * k + x;
    if ((k & 1) == 0) return *(const unsigned*)at;
    return x + 1 < k ? at[0] | (unsigned)at[1] << 16 : at[0];
}

extern "C" __global__ void mma_tile(const uint16_t* a, const uint16_t* b, float* c, int m, int n, int k)
{
    int lane = threadIdx.x, g = lane >> 2, t2 = (lane & 3) << 1;
    int r = blockIdx.y * 16 + g, col = blockIdx.x * 8;
    float c0 = 0, c1 = 0, c2 = 0, c3 = 0;
    for (int x = t2; x < k + t2; x += 16) {
        unsigned a0 = two(a, r, x, m, k), a1 = two(a, r + 8, x, m, k), a2 = two(a, r, x + 8, m, k), a3 = two(a, r + 8, x + 8, m, k);
        unsigned b0 = two(b, col + g, x, n, k), b1 = two(b, col + g, x + 8, n, k);
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    }
    if (r < m && col + t2 < n) c[r * n + col + t2] = c0;
    if (r < m && col + t2 + 1 < n) c[r * n + col + t2 + 1] = c1;
    if (r + 8 < m && col + t2 < n) c[(r + 8) * n + col + t2] = c2;
    if (r + 8 < m && col + t2 + 1 < n) c[(r + 8) * n + col + t2 + 1] = c3;
}

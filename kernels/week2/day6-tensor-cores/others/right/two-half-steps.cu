// Two products of m16n8k8 instead of one of m16n8k16.
// does not reach: A fragment used twice
#include "mma.cuh"

// lockstep: block = 32
// lockstep: grid = ceil_div(n, 8), ceil_div(m, 16)

__device__ inline void mma_8(float (&d)[4], uint32_t a0, uint32_t a1, uint32_t b0)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a0), "r"(a1), "r"(b0));
}

extern "C" __global__ void mma_tile(const uint16_t* a, const uint16_t* b, float* c, int m, int n, int k)
{
    const int lane = threadIdx.x, row = blockIdx.y * 16 + lane / 4, column = blockIdx.x * 8;
    auto element = [&](const uint16_t* p, int r, int x, int rows) { return uint32_t(r < rows && x < k ? p[r * k + x] : 0); };
    auto pair = [&](const uint16_t* p, int r, int x, int rows) { return element(p, r, x, rows) | element(p, r, x + 1, rows) << 16; };
    float d[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int start = 0; start < k; start += 8) {
        const int x = start + lane % 4 * 2;
        mma_8(d, pair(a, row, x, m), pair(a, row + 8, x, m), pair(b, column + lane / 4, x, n));
    }
    store_pair(c, row, column + lane % 4 * 2, m, n, d[0], d[1]);
    store_pair(c, row + 8, column + lane % 4 * 2, m, n, d[2], d[3]);
}

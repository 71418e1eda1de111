// Two pairs of tiles, filled by cp.async, and ldmatrix with two matrices for B.
// does not reach: A larger tile
#include "mma.cuh"

// lockstep: block = 128
// lockstep: grid = ceil_div(n, 64), ceil_div(m, 64)

__device__ inline void two_matrices(uint32_t& r0, uint32_t& r1, uint32_t address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(r0), "=r"(r1) : "r"(address) : "memory");
}

__device__ inline void fill(uint32_t tile, const uint16_t* p, int first, int x, int rows, int k)
{
    if (k % 8) return copy_rows(tile, p, first, 64, x, rows, k, threadIdx.x, 128);
    for (int i = threadIdx.x; i < 512; i += 128) {
        int r = first + i / 8, at = x + i % 8 * 8;
        bool inside = r < rows && at < k;
        copy_async(tile + swizzled(i / 8, i % 8), inside ? p + (int64_t)r * k + at : p, inside ? 16 : 0);
    }
}

extern "C" __global__ void tile_product(const uint16_t* a, const uint16_t* b, float* c, int m, int n, int k)
{
    __shared__ __align__(1024) unsigned char tiles[2][2][8192];
    uint32_t base = shared_address(tiles);
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
    int wr = warp % 2 * 32, wc = warp / 2 * 32;
    float d[2][4][4] = {};
    auto fetch = [&](int s) {
        if (s * 64 < k) {
            fill(base + s % 2 * 16384, a, row0, s * 64, m, k);
            fill(base + s % 2 * 16384 + 8192, b, col0, s * 64, n, k);
        }
        copy_commit();
    };
    fetch(0);
    for (int s = 0; s * 64 < k; s++) {
        fetch(s + 1);
        copy_wait<1>();
        __syncthreads();
        uint32_t ta = base + s % 2 * 16384, tb = ta + 8192;
        for (int q = 0; q < 4; q++) {
            uint32_t fa[2][4];
            for (int i = 0; i < 2; i++) load_matrices(fa[i], ta + swizzled(wr + 16 * i + lane % 16, 2 * q + lane / 16));
            for (int j = 0; j < 4; j++) {
                uint32_t b0, b1;
                two_matrices(b0, b1, tb + swizzled(wc + 8 * j + lane % 8, 2 * q + lane / 8 % 2));
                for (int i = 0; i < 2; i++) mma_bf16(d[i][j], fa[i], b0, b1);
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++) {
            int r = row0 + wr + 16 * i + lane / 4, x = col0 + wc + 8 * j + lane % 4 * 2;
            store_pair(c, r, x, m, n, d[i][j][0], d[i][j][1]);
            store_pair(c, r + 8, x, m, n, d[i][j][2], d[i][j][3]);
        }
}

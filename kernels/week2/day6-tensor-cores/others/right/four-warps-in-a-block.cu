// Four warps in a block, each with two tiles side by side.
// does not reach: A fragment used twice
#include "mma.cuh"

// lockstep: block = 128
// lockstep: grid = ceil_div(n, 16), ceil_div(m, 64)

struct Matrix {
    const uint16_t* data;
    int rows, width;
    __device__ uint16_t at(int r, int x) const { return r < rows && x < width ? data[(size_t)r * width + x] : (uint16_t)0; }
    __device__ uint32_t two(int r, int x) const { return at(r, x) | (uint32_t)at(r, x + 1) << 16; }
};

extern "C" __global__ void mma_tile(const uint16_t* a, const uint16_t* b, float* c, int m, int n, int k)
{
    Matrix A = {a, m, k}, B = {b, n, k};
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int r = blockIdx.y * 64 + warp * 16 + lane / 4, column = blockIdx.x * 16, p = 2 * (lane % 4);
    float left[4] = {}, right[4] = {};
    for (int x = 0; x < k; x += 16) {
        uint32_t f[4] = {A.two(r, x + p), A.two(r + 8, x + p), A.two(r, x + p + 8), A.two(r + 8, x + p + 8)};
        int q = column + lane / 4;
        mma_bf16(left, f, B.two(q, x + p), B.two(q, x + p + 8));
        mma_bf16(right, f, B.two(q + 8, x + p), B.two(q + 8, x + p + 8));
    }
    for (int i = 0; i < 4; ++i) {
        int row = r + (i & 2) * 4, x = column + p + (i & 1);
        if (row < m && x < n) c[row * n + x] = left[i];
        if (row < m && x + 8 < n) c[row * n + x + 8] = right[i];
    }
}

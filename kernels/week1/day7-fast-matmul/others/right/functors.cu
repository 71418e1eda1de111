// Loader, multiplier and writer as structures.
#include "lab.cuh"
// lockstep: block = 16, 16
// lockstep: grid = ceil_div(n, TILE), ceil_div(m, TILE)
#define TILE 64
#define DEPTH 16
struct Place { int x, y, row, column; };
struct Tiles {
    float a[TILE][DEPTH], b[DEPTH][TILE];
    __device__ void load(const float* ga, const float* gb, Place p, int start, int m, int n, int k)
    {
        for (int e = 16 * p.y + p.x; e < TILE * DEPTH; e += 256) {
            const int r = e / DEPTH, q = e % DEPTH;
            a[r][q] = p.row + r < m && start + q < k ? ga[(p.row + r) * k + start + q] : 0;
            b[e / TILE][e % TILE] = start + e / TILE < k && p.column + e % TILE < n ? gb[(start + e / TILE) * n + p.column + e % TILE] : 0;
        }
    }
};
struct Sums {
    float s[4][4] = {};
    __device__ void add(const Tiles& t, Place p)
    {
#pragma unroll
        for (int d = 0; d < DEPTH; d++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) s[i][j] += t.a[p.y + 16 * i][d] * t.b[d][p.x + 16 * j];
    }
    template <class F> __device__ void each(F f) { for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) f(i, j, s[i][j]); }
};
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ Tiles tiles;
    const Place at{int(threadIdx.x), int(threadIdx.y), int(blockIdx.y) * TILE, int(blockIdx.x) * TILE};
    Sums sums;
    for (int start = 0; start < k; start += DEPTH) {
        tiles.load(a, b, at, start, m, n, k);
        __syncthreads();
        sums.add(tiles, at);
        __syncthreads();
    }
    sums.each([=](int i, int j, float s) {
        const int r = at.row + at.y + 16 * i, q = at.column + at.x + 16 * j;
        if (r < m && q < n) c[r * n + q] = s;
    });
}

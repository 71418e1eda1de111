#include "lab.cuh"

// Transpose, rung 5: squares of 4 x 4 turn in registers, so that everything moves 16 bytes at a time.
//
// A thread loads a float4 from each of four rows, which is a 4 x 4 square, and the four columns of the square are four
// float4 of the result: renaming registers, no instruction at all. Shared memory then holds the tile already turned,
// and its rows go out as float4. A thread has 64 bytes on their way where rung 4 had 16, with a quarter of the
// instructions. Columns of float4 in shared memory: float4 r of row c lies at place r ^ (c / 4 % 8), so that 8 threads,
// which write float4 of 8 rows that are 4 apart, hit all 32 banks. Blocks are numbered down the columns of x: those
// that run together write neighboring pieces of the same rows of y, and DRAM takes whole pages. (The other order,
// which reads whole rows of x, is 3% slower: writes matter more.) The rows of both matrices must begin at multiples of
// 16 bytes; for other sizes this is rung 4 with a larger tile.
// lockstep: block = THREADS
// lockstep: grid = ceil_div(m, TILE) * ceil_div(n, TILE)
#define TILE 64
#define THREADS 256

// Float4 in a row of the tile.
#define QUADS (TILE / 4)
// Squares of 4 x 4 for each thread.
#define SQUARES (QUADS * QUADS / THREADS)

__device__ void vectors(float4* tile, const float* __restrict__ x, float* __restrict__ y, int m, int n, int row0,
                        int column0)
{
    float4 v[SQUARES][4];
#pragma unroll
    for (int s = 0; s < SQUARES; s++) {
        const int at = threadIdx.x + s * THREADS;
        const int row = row0 + at / QUADS * 4, column = column0 + at % QUADS * 4;
#pragma unroll
        for (int e = 0; e < 4; e++) {
            if (row < m && column < n) {
                v[s][e] = *reinterpret_cast<const float4*>(x + (long long)(row + e) * n + column);
            }
        }
    }
#pragma unroll
    for (int s = 0; s < SQUARES; s++) {
        const int at = threadIdx.x + s * THREADS;
        const int r = at / QUADS, c = at % QUADS;
        float4* to = tile + 4 * c * QUADS + (r ^ c % 8);
        to[0 * QUADS] = make_float4(v[s][0].x, v[s][1].x, v[s][2].x, v[s][3].x);
        to[1 * QUADS] = make_float4(v[s][0].y, v[s][1].y, v[s][2].y, v[s][3].y);
        to[2 * QUADS] = make_float4(v[s][0].z, v[s][1].z, v[s][2].z, v[s][3].z);
        to[3 * QUADS] = make_float4(v[s][0].w, v[s][1].w, v[s][2].w, v[s][3].w);
    }
    __syncthreads();
#pragma unroll
    for (int s = 0; s < 4 * SQUARES; s++) {
        const int at = threadIdx.x + s * THREADS;
        const int r = at % QUADS, c = at / QUADS;
        if (row0 + 4 * r < m && column0 + c < n) {
            *reinterpret_cast<float4*>(y + (long long)(column0 + c) * m + row0 + 4 * r) =
                tile[c * QUADS + (r ^ c / 4 % 8)];
        }
    }
}

__device__ void scalars(float* tile, const float* __restrict__ x, float* __restrict__ y, int m, int n, int row0,
                        int column0)
{
    const int t = threadIdx.x % TILE;
    for (int r = threadIdx.x / TILE; r < TILE; r += THREADS / TILE) {
        if (row0 + r < m && column0 + t < n) {
            tile[r * TILE + (t ^ r % 32)] = x[(long long)(row0 + r) * n + column0 + t];
        }
    }
    __syncthreads();
    for (int c = threadIdx.x / TILE; c < TILE; c += THREADS / TILE) {
        if (column0 + c < n && row0 + t < m) {
            y[(long long)(column0 + c) * m + row0 + t] = tile[t * TILE + (c ^ t % 32)];
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    transpose(const float* __restrict__ x, float* __restrict__ y, int m, int n)
{
    __shared__ float4 tile[TILE * QUADS];
    const int tiles_m = ceil_div(m, TILE);
    const int row0 = blockIdx.x % tiles_m * TILE, column0 = blockIdx.x / tiles_m * TILE;
    if (m % 4 == 0 && n % 4 == 0) {
        vectors(tile, x, y, m, n, row0, column0);
    } else {
        scalars(reinterpret_cast<float*>(tile), x, y, m, n, row0, column0);
    }
}

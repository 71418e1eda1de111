#include "lab.cuh"

// Transpose, rung 7: 16 bytes at a time at any size.
//
// With 16385 floats in a row, rows begin anywhere, and rung 6 falls back to single floats. But memory does not care
// where rows begin: every row contains float4 at multiples of 16 bytes, only not from its first element on.
//   - A row of the tile is read as the QUADS + 1 float4 that cover it, and what belongs to the neighbors is dropped.
//   - A row of y is written from the last multiple of 32 bytes at or before the tile on: a tile is slanted, each of its
//     rows begins up to SHIFT - 1 elements earlier. So all stores are whole 32-byte sectors, which no other block
//     touches: L2 and memory never have to merge parts of them. (With multiples of 16 bytes it was 4% slower.)
// The price: SHIFT - 1 more rows of x for each tile, which L2 has, because the block before read them, and turning in
// shared memory float by float.
// Where both row lengths are multiples of 32 bytes, this is rung 6.
//
// At 16383 x 16385 this is 0.93 of a copy. Rows of a tile begin in the middle of a sector, and 7 rows are read twice. Larger
// tiles read less twice, but fewer of them fit on a multiprocessor (128 x 128: 0.80). Also tried, all between 0.87 and 0.93:
// cp.async, a warp to a row with no bank conflict at all, 128 x 64 and 64 x 128. README.md of the ladders has what ncu says.
// lockstep: block = THREADS
// lockstep: grid = ceil_div(n, COLUMNS) * ceil_div(m + SHIFT - 1, ROWS)
#define ROWS 64
#define COLUMNS 64
#define THREADS 256
// Floats in a sector of 32 bytes.
#define SHIFT 8

#define SLANTED_ROWS (ROWS + SHIFT - 1)
// An odd pitch: the floats of a column lie in different banks.
#define PITCH (COLUMNS + 1)

// Rung 6, for tiles of 64 x 64 and rows that are multiples of 32 bytes.
#define TILE 64
#define QUADS (TILE / 4)
#define SQUARES (QUADS * QUADS / THREADS)

// A float4 that L2 keeps before others, with the whole 256 bytes around it if it has to fetch them.
__device__ float4 load_kept(const float* from)
{
    float4 v;
    unsigned long long keep;
    asm("createpolicy.fractional.L2::evict_last.b64 %0;" : "=l"(keep));
    asm("ld.global.nc.L2::cache_hint.L2::256B.v4.f32 {%0, %1, %2, %3}, [%4], %5;"
        : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
        : "l"(from), "l"(keep));
    return v;
}

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
                v[s][e] = load_kept(x + (long long)(row + e) * n + column);
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
            __stcs(reinterpret_cast<float4*>(y + (long long)(column0 + c) * m + row0 + 4 * r),
                   tile[c * QUADS + (r ^ c / 4 % 8)]);
        }
    }
}

__device__ void slanted(float* tile, const float* __restrict__ x, float* __restrict__ y, int m, int n)
{
    constexpr int COVER = COLUMNS / 4 + 1;  // float4 that cover a row of the tile, wherever it begins
    constexpr int LOADS = (SLANTED_ROWS * COVER + THREADS - 1) / THREADS;
    const int tiles_m = ceil_div(m + SHIFT - 1, ROWS);
    const int row0 = blockIdx.x % tiles_m * ROWS, column0 = blockIdx.x / tiles_m * COLUMNS;
    const long long all = (long long)m * n;

    float4 v[LOADS];
#pragma unroll
    for (int u = 0; u < LOADS; u++) {
        const int at = threadIdx.x + u * THREADS;
        const int row = row0 - (SHIFT - 1) + at / COVER;
        const long long begin = (long long)row * n + column0, end = begin + min(COLUMNS, n - column0);
        const long long from = (begin & ~3ll) + at % COVER * 4;
        v[u] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (at < SLANTED_ROWS * COVER && row >= 0 && row < m && from < end) {
            if (from + 3 < all) {
                v[u] = load_kept(x + from);
            } else {  // the end of the matrix
                v[u].x = x[from];
                v[u].y = from + 1 < all ? x[from + 1] : 0.0f;
                v[u].z = from + 2 < all ? x[from + 2] : 0.0f;
            }
        }
    }
#pragma unroll
    for (int u = 0; u < LOADS; u++) {
        const int at = threadIdx.x + u * THREADS;
        const int r = at / COVER;
        const long long begin = (long long)(row0 - (SHIFT - 1) + r) * n + column0;
        const int column = at % COVER * 4 - static_cast<int>(begin & 3);  // of v[u].x in the tile, from -3 on
        if (r < SLANTED_ROWS) {
            float* to = tile + r * PITCH + column;
            if (column >= 0 && column < COLUMNS) {
                to[0] = v[u].x;
            }
            if (column >= -1 && column < COLUMNS - 1) {
                to[1] = v[u].y;
            }
            if (column >= -2 && column < COLUMNS - 2) {
                to[2] = v[u].z;
            }
            if (column < COLUMNS - 3) {
                to[3] = v[u].w;
            }
        }
    }
    __syncthreads();
#pragma unroll 4
    for (int at = threadIdx.x; at < ROWS / 4 * COLUMNS; at += THREADS) {
        // 8 lanes for 128 bytes of a row of y, 4 rows for a warp: their words lie in 32 different banks.
        const int quad = at % 8 + at / (8 * COLUMNS) * 8, c = at / 8 % COLUMNS;
        if (column0 + c >= n) {
            continue;
        }
        const long long begin = (long long)(column0 + c) * m;
        const int slant = static_cast<int>((begin + row0) & (SHIFT - 1));
        const int row = row0 - slant + 4 * quad;
        const float* from = tile + (4 * quad - slant + SHIFT - 1) * PITCH + c;
        if (row >= 0 && row + 3 < m) {
            __stcs(reinterpret_cast<float4*>(y + begin + row),
                   make_float4(from[0], from[PITCH], from[2 * PITCH], from[3 * PITCH]));
        } else {
            for (int e = 0; e < 4; e++) {
                if (row + e >= 0 && row + e < m) {
                    y[begin + row + e] = from[e * PITCH];
                }
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    transpose(const float* __restrict__ x, float* __restrict__ y, int m, int n)
{
    __shared__ __align__(16) float tile[greatest(SLANTED_ROWS * PITCH, TILE * TILE)];
    if (m % SHIFT == 0 && n % SHIFT == 0) {
        const int tiles_m = ceil_div(m, TILE);
        const int row0 = blockIdx.x % tiles_m * TILE, column0 = blockIdx.x / tiles_m * TILE;
        if (column0 < n) {
            vectors(reinterpret_cast<float4*>(tile), x, y, m, n, row0, column0);
        }
    } else {
        slanted(tile, x, y, m, n);
    }
}

#include "lab.cuh"

// Transpose, rung 8: odd sizes in larger tiles, with less work for every element.
//
// Rung 7 reads 17% more sectors than there are, because its tiles are small: 7 rows in 71 belong to the block before, and
// 1 sector in 9 of a row is read for a part of it. And it turns its tile float by float. Here a tile has 128 rows and 120
// columns, which is 13% more, and most of the work is done for many elements at once:
//   - A warp reads a row as 128 floats from a multiple of 32 bytes on, one float4 a lane. It reads every 8th row, and
//     those all begin equally far behind such a multiple, whatever n is: worked out once, it holds for all its rows.
//   - Before a row goes to shared memory, its floats move down by up to three places, over the border to the next lane
//     (`moved`), so that column c of the tile lies at place c of every row. For a float4 of y a thread then reads one float
//     from each of four rows, from addresses that no longer depend on the row: they are worked out once too.
//   - A warp writes one row of y: 32 float4, 512 bytes one after the other. That costs bank conflicts (32 groups of four
//     rows, which are 4 banks apart, meet four to a bank), and is faster all the same.
// Without rung 6's two marks this is slower than rung 7, 668 us at 16383 x 16385: it stores so fast that L2 is full of
// results. With `__stcs` alone it takes 548, with both 529 (rung 7: 543), which is 0.96 of a copy, as at 8191 x 8193.
//
// It is for row lengths that are not multiples of 8 floats: others go through rung 6 with nothing read twice. Where there
// are few tiles, the smaller ones of rung 7 spread better. README.md of the ladders has what ncu says and what else was
// tried.
// lockstep: block = THREADS
// lockstep: grid = ceil_div(n, COLUMNS) * ceil_div(m + SHIFT - 1, ROWS)
// lockstep: dynamic_shared_bytes = (ROWS + SHIFT) * (4 * PITCH + 4)
#define ROWS 128
#define COLUMNS 120
#define THREADS 256
// Floats in a sector of 32 bytes: rows of y begin at multiples of that, as in rung 7.
#define SHIFT 8
// Floats that a warp reads of a row: COLUMNS, and up to SHIFT - 1 before them.
#define PITCH 128

#define SLANTED_ROWS (ROWS + SHIFT)
// Four rows, and 4 floats that put the next four into other banks.
#define GROUP (4 * PITCH + 4)
#define WARPS (THREADS / WARP_SIZE)
// Rows for each warp, all of them WARPS apart, which is a multiple of SHIFT.
#define LOADS (SLANTED_ROWS / WARPS)

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

// The part of that float4 that lies in an array of `all` floats.
__device__ float4 load_end(const float* x, long long from, long long all)
{
    return make_float4(from < all ? x[from] : 0.0f, from + 1 < all ? x[from + 1] : 0.0f,
                       from + 2 < all ? x[from + 2] : 0.0f, from + 3 < all ? x[from + 3] : 0.0f);
}

__device__ float of_next_lane(float v)
{
    return __shfl_sync(FULL_MASK, v, (threadIdx.x + 1) % WARP_SIZE);
}

// A row that lies in the lanes of a warp, four floats in each, moved down by BY floats.
template <int BY>
__device__ float4 moved(float4 v)
{
    if (BY == 1) {
        return make_float4(v.y, v.z, v.w, of_next_lane(v.x));
    }
    if (BY == 2) {
        return make_float4(v.z, v.w, of_next_lane(v.x), of_next_lane(v.y));
    }
    if (BY == 3) {
        return make_float4(v.w, of_next_lane(v.x), of_next_lane(v.y), of_next_lane(v.z));
    }
    return v;
}

template <int BY>
__device__ void keep(float* to, const float4 (&v)[LOADS], bool writes)
{
#pragma unroll
    for (int u = 0; u < LOADS; u++) {
        const float4 w = moved<BY>(v[u]);
        if (writes) {
            *reinterpret_cast<float4*>(to + u * (WARPS / 4) * GROUP) = w;
        }
    }
}

// WHOLE: nothing of the tile, nor of what is read around it, lies outside of x.
template <bool WHOLE>
__device__ void turn(float* tile, const float* __restrict__ x, float* __restrict__ y, int m, int n, int row0, int column0)
{
    const int warp = threadIdx.x / WARP_SIZE, lane = threadIdx.x % WARP_SIZE;
    const long long all = (long long)m * n;

    // Row r of the tile is row row0 - SHIFT + r of x. `phase`: how far the warp's rows begin behind a multiple of 32 bytes.
    const long long begin = (long long)(row0 - SHIFT + warp) * n + column0;
    const int phase = static_cast<int>(begin & (SHIFT - 1));
    float4 v[LOADS];
#pragma unroll
    for (int u = 0; u < LOADS; u++) {
        const int row = row0 - SHIFT + warp + u * WARPS;
        const long long from = begin - phase + 4 * lane + (long long)u * WARPS * n;
        if (WHOLE || (row >= 0 && row < m && from < all)) {
            v[u] = WHOLE || from + 3 < all ? load_kept(x + from) : load_end(x, from, all);
        } else {
            v[u] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        }
    }
    const int skipped = phase / 4;  // lanes before the first that has something of the tile
    float* to_tile = tile + warp / 4 * GROUP + warp % 4 * PITCH + 4 * (lane - skipped);
    switch (phase % 4) {
    case 0: keep<0>(to_tile, v, lane >= skipped); break;
    case 1: keep<1>(to_tile, v, lane >= skipped); break;
    case 2: keep<2>(to_tile, v, lane >= skipped); break;
    default: keep<3>(to_tile, v, lane >= skipped); break;
    }
    __syncthreads();

    // A warp writes column warp, warp + WARPS and so on of the tile. WARPS is a multiple of SHIFT: all are slanted alike.
    const long long first = (long long)(column0 + warp) * m + row0;
    const int slant = static_cast<int>(first & (SHIFT - 1));
    const int row = row0 - slant + 4 * lane;
    const bool inside = WHOLE || (row >= 0 && row + 3 < m);
    const float* from[4];
#pragma unroll
    for (int e = 0; e < 4; e++) {
        const int r = 4 * lane + SHIFT - slant + e;
        from[e] = tile + r / 4 * GROUP + r % 4 * PITCH + warp;
    }
    float* to = y + first - slant + 4 * lane;
#pragma unroll
    for (int c = 0; c < PITCH; c += WARPS) {
        if (warp + c < COLUMNS && (WHOLE || column0 + warp + c < n)) {
            if (inside) {
                __stcs(reinterpret_cast<float4*>(to), make_float4(from[0][c], from[1][c], from[2][c], from[3][c]));
            } else {
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    if (row + e >= 0 && row + e < m) {
                        to[e] = from[e][c];
                    }
                }
            }
        }
        to += (long long)WARPS * m;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    transpose(const float* __restrict__ x, float* __restrict__ y, int m, int n)
{
    extern __shared__ __align__(16) float tile[];
    const int tiles_m = ceil_div(m + SHIFT - 1, ROWS);
    const int row0 = static_cast<int>(blockIdx.x) % tiles_m * ROWS;
    const int column0 = static_cast<int>(blockIdx.x) / tiles_m * COLUMNS;
    if (row0 >= SHIFT && row0 + ROWS < m && column0 + PITCH < n) {
        turn<true>(tile, x, y, m, n, row0, column0);
    } else {
        turn<false>(tile, x, y, m, n, row0, column0);
    }
}

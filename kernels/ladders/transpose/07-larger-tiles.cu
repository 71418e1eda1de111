#include "lab.cuh"

// Transpose, rung 7: odd sizes in larger tiles, which nothing has to be turned into.
//
// Rung 6 reads 17% more sectors than there are, because its tiles are small: 7 rows in 71 belong to the block before, and
// 1 sector in 9 of a row is read for a part of it. Here a tile has 128 rows and 121 columns, which is 12% more:
//   - A warp reads a row as 128 floats from a multiple of 32 bytes on, one float4 a lane: with whole sectors for every 8
//     lanes none is fetched twice. (With cp.async it was 5% slower.)
//   - The float4 go to shared memory as they are, without a look at which of their floats are the tile's: where an element
//     lies follows from where its row began.
//   - For a float4 of y a thread then reads one float from each of four rows. Groups of four rows are 4 banks apart, and a
//     warp takes 8 of them and 4 columns: 32 banks. Where both row lengths are odd, rows begin one bank further each, and
//     the four columns would meet in one; so their threads begin with different rows of the four.
// It is for row lengths that are not multiples of 8 floats: others go through rung 5 with nothing read twice. Where there
// are few tiles, the smaller ones of rung 6 spread better.
//
// At 16383 x 16385 this is 0.931 of a copy, at 8191 x 8193 0.947, and 0.97 was aimed at. README.md of the
// ladders has what ncu says. Without `load_ahead` (547 us), the same kernel with 128 columns and rows of a multiple of 32 bytes takes
// 531 us at 16384 x 16384, where rung 5 takes 521 and this one with 121 columns 547: of the 28 us to rung 5, 16 are for
// rows that begin anywhere, and 12 for shared memory float by float. Neither the rows read twice (6% or 22% of them) nor
// whole lines of 128 bytes, on either side, make a difference of more than 1%.
//
// Also tried, none faster (0.49 to 0.92 of a copy): rows fetched by the copy engine into a ring, from which the rows
// that overlap are used twice and nothing is read twice, for strips of 64 to 256 columns, in blocks that stay or not;
// cp.async, of 16 bytes or of single floats into rows of one alignment; hints for L1 and L2; other orders of tiles.
// lockstep: block = THREADS
// lockstep: grid = ceil_div(n, COLUMNS) * ceil_div(m + SHIFT - 1, ROWS)
// lockstep: dynamic_shared_bytes = (ROWS + SHIFT) * (4 * PITCH + 4)
#define ROWS 128
#define COLUMNS 121
#define THREADS 512
// Floats in a sector of 32 bytes: rows of y begin at multiples of that, as in rung 6.
#define SHIFT 8
// Floats that a warp reads of a row: COLUMNS, and up to SHIFT - 1 before them.
#define PITCH 128

#define SLANTED_ROWS (ROWS + SHIFT)
// Four rows, and 4 floats that put the next four into other banks.
#define GROUP (4 * PITCH + 4)
#define WARPS (THREADS / WARP_SIZE)
#define LOADS ((SLANTED_ROWS + WARPS - 1) / WARPS)
// Columns from one that a thread writes to the next. A multiple of SHIFT: all of them are slanted alike.
#define APART (4 * WARPS)

// A float4 that is only read. L2 fetches the whole 256 bytes around it at once if it does not have them.
__device__ float4 load_ahead(const float* from)
{
    float4 v;
    asm("ld.global.nc.L2::256B.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(from));
    return v;
}

// v[0] goes to the place of v[by], and so on round.
__device__ void turn(float (&v)[4], int by)
{
    if (by & 1) {
        const float last = v[3];
        v[3] = v[2], v[2] = v[1], v[1] = v[0], v[0] = last;
    }
    if (by & 2) {
        const float first = v[0], second = v[1];
        v[0] = v[2], v[1] = v[3], v[2] = first, v[3] = second;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    transpose(const float* __restrict__ x, float* __restrict__ y, int m, int n)
{
    extern __shared__ __align__(16) float tile[];
    const int warp = threadIdx.x / WARP_SIZE, lane = threadIdx.x % WARP_SIZE;
    const int tiles_m = ceil_div(m + SHIFT - 1, ROWS);
    const int row0 = static_cast<int>(blockIdx.x) % tiles_m * ROWS;
    const int column0 = static_cast<int>(blockIdx.x) / tiles_m * COLUMNS, wide = min(COLUMNS, n - column0);
    const long long all = (long long)m * n;

    // Row r of the tile is row row0 - SHIFT + r of x. `phase`: how far it begins behind a multiple of 32 bytes. Of that,
    // what is less than 16 bytes is kept in shared memory.
    float4 v[LOADS];
#pragma unroll
    for (int u = 0; u < LOADS; u++) {
        const int r = warp + u * WARPS, row = row0 - SHIFT + r;
        const long long begin = (long long)row * n + column0;
        const int phase = static_cast<int>(begin & 7);
        const long long from = begin - phase + 4 * lane;
        if (r < SLANTED_ROWS && row >= 0 && row < m && 4 * lane < phase + wide) {
            if (from + 3 < all) {
                v[u] = load_ahead(x + from);
            } else {  // the end of the matrix
                v[u].x = from < all ? x[from] : 0.0f;
                v[u].y = from + 1 < all ? x[from + 1] : 0.0f;
                v[u].z = from + 2 < all ? x[from + 2] : 0.0f;
            }
        }
    }
#pragma unroll
    for (int u = 0; u < LOADS; u++) {
        const int r = warp + u * WARPS;
        const int skipped = ((row0 - SHIFT + r) * n + column0) & 4;
        if (r < SLANTED_ROWS && 4 * lane >= skipped) {
            reinterpret_cast<float4*>(tile)[(r / 4 * GROUP + r % 4 * PITCH - skipped) / 4 + lane] = v[u];
        }
    }
    __syncthreads();

    const int c = 4 * warp + lane / 8, first = m & n & 1 ? lane / 8 : 0;
    const int slant = (column0 + c) * m & (SHIFT - 1);
#pragma unroll 1
    for (int quad = lane % 8; quad < ROWS / 4; quad += 8) {
        const int row = row0 - slant + 4 * quad;
        const float* from[4];
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const int i = (e + first) & 3, r = 4 * quad - slant + SHIFT + i;
            from[e] = tile + r / 4 * GROUP + r % 4 * PITCH + c + (((row + i) * n + column0) & 3);
        }
        float* to = y + (long long)(column0 + c) * m + row;
        const bool inside = row >= 0 && row + 3 < m;
#pragma unroll
        for (int u = 0; u < PITCH / APART; u++) {
            if (c + u * APART < wide) {
                float w[4] = {from[0][u * APART], from[1][u * APART], from[2][u * APART], from[3][u * APART]};
                turn(w, first);
                if (inside) {
                    *reinterpret_cast<float4*>(to) = make_float4(w[0], w[1], w[2], w[3]);
                } else {
#pragma unroll
                    for (int e = 0; e < 4; e++) {
                        if (row + e >= 0 && row + e < m) {
                            to[e] = w[e];
                        }
                    }
                }
                to += (long long)APART * m;
            }
        }
    }
}

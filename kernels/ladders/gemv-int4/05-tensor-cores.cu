// Against the rung before: the arithmetic moves to the tensor cores.
//
// Tensor cores do the adding. A warp holds 16 rows as A of mma.m16n8k16; a sum over k may be taken in any order, so lane
// 4g + t simply loads 16 bytes, 32 columns, of rows g and g + 8. Eight columns go into each pair of products, and the x that
// belongs to pair j is column j of B, zeros elsewhere: so one load of 16 lanes fetches x, and the four columns of C are added
// at the end. Codes become fp16 by one lop3 for two of them (1024 + code + 8) and one subtraction; sums are fp32, and each
// group of 128 columns is multiplied by its scale once. The warps of a block share their rows and take turns along k.
#include "lab.cuh"
#include <cuda_fp16.h>

// lockstep: block = 32 * WARPS
// lockstep: grid = ceil_div(n, ROWS)
// lockstep: dynamic_shared_bytes = 4 * ROWS * (ceil_div(k, 256) + 1)
#define WARPS 8
#define TILES 2
#define ROWS (16 * TILES)
#define GROUP 128

// (w & mask) | magic in one instruction, and minus 1032 in both halves.
__device__ __forceinline__ unsigned two_codes(unsigned word)
{
    unsigned biased;
    asm("lop3.b32 %0, %1, 0x000f000f, 0x64006400, 0xea;" : "=r"(biased) : "r"(word));
    const unsigned offset = 0x64086408u;
    const half2 value = __hsub2(reinterpret_cast<const half2&>(biased), reinterpret_cast<const half2&>(offset));
    return reinterpret_cast<const unsigned&>(value);
}

__device__ __forceinline__ void mma(float (&d)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// The codes of rows 8i + g (i counts halves of tiles) for one group, zeros outside, and x for the same columns.
struct Fetched
{
    uint4 codes[2 * TILES];
    uint4 x;
};

__device__ __forceinline__ Fetched fetch(const half* x, const unsigned char* w_codes, int row0, int group, int n, int k)
{
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const int column = group * GROUP + 32 * t;  // 32 columns for this lane, all there or none of them
    Fetched of;
#pragma unroll
    for (int i = 0; i < 2 * TILES; i++) {
        const int row = row0 + 8 * i + g;
        const bool has = column < k && row < n;
        of.codes[i] = has ? __ldcs(reinterpret_cast<const uint4*>(w_codes + (long long)row * (k / 2) + column / 2))
                          : make_uint4(0x88888888u, 0x88888888u, 0x88888888u, 0x88888888u);
    }
    of.x = g < 4 && column < k ? reinterpret_cast<const uint4*>(x + column)[g] : make_uint4(0, 0, 0, 0);
    return of;
}

extern "C" __global__ void __launch_bounds__(32 * WARPS)
    gemv_int4(const half* __restrict__ x, const unsigned char* __restrict__ w_codes, const half* __restrict__ w_scales,
              float* __restrict__ y, int n, int k)
{
    extern __shared__ half scales[];  // [ROWS][stride], an odd number of words to a row
    __shared__ float parts[WARPS][ROWS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int g = lane / 4, t = lane % 4;
    const int groups = ceil_div(k, GROUP), stride = 2 * ((groups + 1) / 2 | 1);
    const int row0 = blockIdx.x * ROWS;
    Fetched next = fetch(x, w_codes, row0, warp, n, k);

    for (int row = warp; row < ROWS && row0 + row < n; row += WARPS) {
        for (int i = lane; i < groups; i += 32) {
            scales[row * stride + i] = w_scales[(long long)(row0 + row) * groups + i];
        }
    }
    __syncthreads();

    float total[2 * TILES] = {};
    for (int group = warp; group < groups; group += WARPS) {
        const Fetched now = next;
        if (group + WARPS < groups) {
            next = fetch(x, w_codes, row0, group + WARPS, n, k);
        }
        // Codes come out in pairs (0, 4), (1, 5), (2, 6), (3, 7), so x is paired in the same way.
        const unsigned b04 = __byte_perm(now.x.x, now.x.z, 0x5410), b15 = __byte_perm(now.x.x, now.x.z, 0x7632);
        const unsigned b26 = __byte_perm(now.x.y, now.x.w, 0x5410), b37 = __byte_perm(now.x.y, now.x.w, 0x7632);
        float sum[TILES][4] = {};
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const bool mine = g == j;
#pragma unroll
            for (int i = 0; i < TILES; i++) {
                const unsigned low[4] = {now.codes[2 * i].x, now.codes[2 * i].y, now.codes[2 * i].z, now.codes[2 * i].w};
                const uint4 other = now.codes[2 * i + 1];
                const unsigned high[4] = {other.x, other.y, other.z, other.w};
                // Two's complement plus 8: 0 to 15.
                const unsigned u = low[j] ^ 0x88888888u, v = high[j] ^ 0x88888888u;
                mma(sum[i], two_codes(u), two_codes(v), two_codes(u >> 4), two_codes(v >> 4), mine ? b04 : 0, mine ? b15 : 0);
                mma(sum[i], two_codes(u >> 8), two_codes(v >> 8), two_codes(u >> 12), two_codes(v >> 12), mine ? b26 : 0,
                    mine ? b37 : 0);
            }
        }
#pragma unroll
        for (int i = 0; i < 2 * TILES; i++) {  // row 8i + g: two of C's columns in each lane, nothing beyond column 3
            const int row = 8 * i + g;
            const float scale = row0 + row < n ? __half2float(scales[row * stride + group]) : 0.0f;
            total[i] = fmaf(sum[i / 2][i % 2 * 2] + sum[i / 2][i % 2 * 2 + 1], scale, total[i]);
        }
    }
#pragma unroll
    for (int i = 0; i < 2 * TILES; i++) {
        const float both = total[i] + __shfl_xor_sync(FULL_MASK, total[i], 1);
        if (t == 0) {
            parts[warp][8 * i + g] = both;
        }
    }
    __syncthreads();
    if (threadIdx.x < ROWS && row0 + threadIdx.x < n) {
        float sum = 0.0f;
        for (int w = 0; w < WARPS; w++) {
            sum += parts[w][threadIdx.x];
        }
        y[row0 + threadIdx.x] = sum;
    }
}

// Against the rung before: B has eight columns, and here each is a vector of its own, in two products for sixteen. So a lane
// loads x for its own column, and C holds a row's sums for all vectors: nothing has to be added across lanes.
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

// The codes of rows 8i + g (i counts halves of tiles) for one group, zeros outside.
struct Fetched
{
    uint4 codes[2 * TILES];
};

__device__ __forceinline__ Fetched fetch(const unsigned char* w_codes, int row0, int group, int n, int k)
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
    return of;
}

extern "C" __global__ void __launch_bounds__(32 * WARPS)
    gemv_int4(const half* __restrict__ x, const unsigned char* __restrict__ w_codes, const half* __restrict__ w_scales,
              float* __restrict__ y, int n, int k)
{
    extern __shared__ half scales[];  // [ROWS][stride], an odd number of words to a row
    __shared__ float parts[WARPS][16][ROWS + 4];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int g = lane / 4, t = lane % 4;
    const int groups = ceil_div(k, GROUP), stride = 2 * ((groups + 1) / 2 | 1);
    const int row0 = blockIdx.x * ROWS;
    Fetched next = fetch(w_codes, row0, warp, n, k);

    for (int row = warp; row < ROWS && row0 + row < n; row += WARPS) {
        for (int i = lane; i < groups; i += 32) {
            scales[row * stride + i] = w_scales[(long long)(row0 + row) * groups + i];
        }
    }
    __syncthreads();

    float total[TILES][2][4] = {};
    for (int group = warp; group < groups; group += WARPS) {
        const Fetched now = next;
        if (group + WARPS < groups) {
            next = fetch(w_codes, row0, group + WARPS, n, k);
        }
        const int column = group * GROUP + 32 * t;
        float sum[TILES][2][4] = {};
#pragma unroll
        for (int j = 0; j < 4; j++) {
            unsigned b[2][4];  // of vectors g and g + 8
#pragma unroll
            for (int half_of = 0; half_of < 2; half_of++) {
                const half* from = x + (long long)(8 * half_of + g) * k + column;
                const uint4 eight = column < k ? reinterpret_cast<const uint4*>(from)[j] : make_uint4(0, 0, 0, 0);
                b[half_of][0] = __byte_perm(eight.x, eight.z, 0x5410), b[half_of][1] = __byte_perm(eight.x, eight.z, 0x7632);
                b[half_of][2] = __byte_perm(eight.y, eight.w, 0x5410), b[half_of][3] = __byte_perm(eight.y, eight.w, 0x7632);
            }
#pragma unroll
            for (int i = 0; i < TILES; i++) {
                const unsigned low[4] = {now.codes[2 * i].x, now.codes[2 * i].y, now.codes[2 * i].z, now.codes[2 * i].w};
                const uint4 other = now.codes[2 * i + 1];
                const unsigned high[4] = {other.x, other.y, other.z, other.w};
                const unsigned u = low[j] ^ 0x88888888u, v = high[j] ^ 0x88888888u;
                const unsigned a[8] = {two_codes(u),      two_codes(v),      two_codes(u >> 4),  two_codes(v >> 4),
                                       two_codes(u >> 8), two_codes(v >> 8), two_codes(u >> 12), two_codes(v >> 12)};
#pragma unroll
                for (int half_of = 0; half_of < 2; half_of++) {
                    mma(sum[i][half_of], a[0], a[1], a[2], a[3], b[half_of][0], b[half_of][1]);
                    mma(sum[i][half_of], a[4], a[5], a[6], a[7], b[half_of][2], b[half_of][3]);
                }
            }
        }
#pragma unroll
        for (int i = 0; i < TILES; i++) {
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const int row = 16 * i + 8 * h + g;
                const float scale = row0 + row < n ? __half2float(scales[row * stride + group]) : 0.0f;
#pragma unroll
                for (int half_of = 0; half_of < 2; half_of++) {
                    total[i][half_of][2 * h] = fmaf(sum[i][half_of][2 * h], scale, total[i][half_of][2 * h]);
                    total[i][half_of][2 * h + 1] = fmaf(sum[i][half_of][2 * h + 1], scale, total[i][half_of][2 * h + 1]);
                }
            }
        }
    }
    // Lane 4g + t has rows g and g + 8 of vectors 2t and 2t + 1.
#pragma unroll
    for (int i = 0; i < TILES; i++) {
#pragma unroll
        for (int half_of = 0; half_of < 2; half_of++) {
#pragma unroll
            for (int part = 0; part < 4; part++) {
                parts[warp][8 * half_of + 2 * t + part % 2][16 * i + part / 2 * 8 + g] = total[i][half_of][part];
            }
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 16 * ROWS; i += 32 * WARPS) {
        const int vector = i / ROWS, row = row0 + i % ROWS;
        if (row < n) {
            float sum = 0.0f;
            for (int w = 0; w < WARPS; w++) {
                sum += parts[w][vector][i % ROWS];
            }
            y[(long long)vector * n + row] = sum;
        }
    }
}

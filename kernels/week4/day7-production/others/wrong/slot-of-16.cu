// Slots modulo 16.
// rejected for: out_of_bounds
// leads to: the page table was skipped
#include "lab.cuh"
#include <cuda_fp8.h>
// A group of sixteen lanes a token, four elements a lane; two groups share the tokens of a query head and are merged at the end.
// lockstep: block = 32, 2
// lockstep: grid = ceil_div(heads, 2), batch
__constant__ float LEVEL[8] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
__device__ __forceinline__ float level(unsigned c) { return (c & 8) ? -LEVEL[c & 7] : LEVEL[c & 7]; }
__device__ __forceinline__ float fp8(unsigned char c)
{
    __nv_fp8_e4m3 v;
    v.__x = c;
    return float(v);
}
extern "C" __global__ void decode_paged(const float* __restrict__ q, const unsigned char* __restrict__ k_codes, const unsigned char* __restrict__ v_codes,
                                        const unsigned char* __restrict__ v_scales, const float* __restrict__ k_scale, const float* __restrict__ v_scale,
                                        const int* __restrict__ page_table, const int* __restrict__ lengths, float* __restrict__ out, int heads,
                                        int key_heads, int page_size, int most_pages)
{
    const int head = blockIdx.x * 2 + threadIdx.y, b = blockIdx.y;
    if (head >= heads) return;
    const int kh = head / (heads / key_heads), half = threadIdx.x / 16, part = threadIdx.x % 16;
    const float4 mine = reinterpret_cast<const float4*>(q + (b * heads + head) * 64)[part];
    const int n = lengths[b];
    const int* pages = page_table + b * most_pages;
    float most = -INFINITY, total = 0, o[4] = {0, 0, 0, 0};
    for (int t = 0; t < n; t += 2) {
        const int mine_t = t + half;
        const bool on = mine_t < n;
        const int use = on ? mine_t : n - 1;
        const size_t row = ((size_t)pages[use / page_size] * page_size + use % 16) * key_heads + kh;
        const uchar4 k = reinterpret_cast<const uchar4*>(k_codes + row * 64)[part];
        float s = mine.x * fp8(k.x) + mine.y * fp8(k.y) + mine.z * fp8(k.z) + mine.w * fp8(k.w);
        for (int d = 8; d; d /= 2) s += __shfl_xor_sync(0xffffffffu, s, d);
        s *= *k_scale * 0.125f;
        if (!on) s = -INFINITY;
        const float next = fmaxf(most, s);
        const float keep = most == next ? 1.0f : expf(most - next), w = s == -INFINITY ? 0.0f : expf(s - next);
        const unsigned short c = reinterpret_cast<const unsigned short*>(v_codes + row * 32)[part];
        const float f = fp8(v_scales[row * 4 + part / 4]);
        total = total * keep + w;
        for (int e = 0; e < 4; e++) o[e] = o[e] * keep + w * f * level(c >> (4 * e));
        most = next;
    }
    const float other = __shfl_xor_sync(0xffffffffu, most, 16), all = fmaxf(most, other);
    const float keep = most == -INFINITY ? 0.0f : expf(most - all);
    total *= keep;
    total += __shfl_xor_sync(0xffffffffu, total, 16);
    for (int e = 0; e < 4; e++) {
        o[e] *= keep;
        o[e] += __shfl_xor_sync(0xffffffffu, o[e], 16);
        if (half == 0) out[(b * heads + head) * 64 + 4 * part + e] = o[e] / total * *v_scale;
    }
}

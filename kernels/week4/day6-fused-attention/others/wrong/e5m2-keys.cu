// Keys as E5M2.
// rejected for: wrong_output
// leads to: from_e4m3
#include "lab.cuh"
#include <cuda_bf16.h>
#include <cuda_fp8.h>
// lockstep: decode_split.block = 32, 4
// lockstep: decode_split.grid = ceil_div(capacity, 64), ceil_div(heads, 4), batch
// lockstep: decode_merge.block = 32
// lockstep: decode_merge.grid = batch * heads
// lockstep: size(partial) = ceil_div(capacity, 64) * batch * heads * 128
// lockstep: size(partial_lse) = ceil_div(capacity, 64) * batch * heads
#define SPLIT 64
__constant__ float LEVEL[16] = {0.f, .5f, 1.f, 1.5f, 2.f, 3.f, 4.f, 6.f, -0.f, -.5f, -1.f, -1.5f, -2.f, -3.f, -4.f, -6.f};
// A warp a query head, an online softmax over the keys of the split; a lane four elements.
extern "C" __global__ void decode_split(const __nv_bfloat16* __restrict__ q, const __nv_fp8_e5m2* __restrict__ k_codes, const float* __restrict__ k_scale,
                                        const unsigned char* __restrict__ v_codes, const __nv_fp8_e4m3* __restrict__ v_scales, const float* __restrict__ v_scale,
                                        const int* __restrict__ lengths, float* __restrict__ partial, float* __restrict__ partial_lse,
                                        int batch, int heads, int key_heads, int capacity, float scale)
{
    const int head = blockIdx.y * 4 + threadIdx.y, sequence = blockIdx.z, lane = threadIdx.x;
    if (head >= heads) return;
    const int key_head = head / (heads / key_heads);
    const int begin = blockIdx.x * SPLIT, end = min(begin + SPLIT, lengths[sequence]);
    const long long slot = ((long long)sequence * heads + head) * gridDim.x + blockIdx.x;
    if (begin >= end) { if (lane == 0) partial_lse[slot] = -INFINITY; return; }
    float mine[4];
    for (int e = 0; e < 4; e++) mine[e] = __bfloat162float(q[((long long)sequence * heads + head) * 128 + 4 * lane + e]) * scale * *k_scale;
    float most = -INFINITY, total = 0.0f, o[4] = {};
    for (int key = begin; key < end; key++) {
        const long long row = ((long long)sequence * capacity + key) * key_heads + key_head;
        float dot = 0;
        for (int e = 0; e < 4; e++) dot += mine[e] * (float)k_codes[row * 128 + 4 * lane + e];
        for (int d = 16; d; d >>= 1) dot += __shfl_xor_sync(0xffffffffu, dot, d);
        const float now = fmaxf(most, dot), keep = expf(most - now), w = expf(dot - now);
        const float of_block = (float)v_scales[row * 8 + lane / 4];
        const unsigned b0 = v_codes[row * 64 + 2 * lane], b1 = v_codes[row * 64 + 2 * lane + 1];
        const float v[4] = {LEVEL[b0 & 15] * of_block, LEVEL[b0 >> 4] * of_block, LEVEL[b1 & 15] * of_block, LEVEL[b1 >> 4] * of_block};
        total = total * keep + w;
        for (int e = 0; e < 4; e++) o[e] = o[e] * keep + w * v[e];
        most = now;
    }
    for (int e = 0; e < 4; e++) partial[slot * 128 + 4 * lane + e] = o[e] / total * *v_scale;
    if (lane == 0) partial_lse[slot] = most + logf(total);
}
extern "C" __global__ void decode_merge(const float* partial, const float* partial_lse, const int* lengths, float* out, float* lse, int batch, int heads, int key_heads, int capacity)
{
    const int splits = (capacity + SPLIT - 1) / SPLIT, row = blockIdx.x;
    float most = -INFINITY;
    for (int s = 0; s < splits; s++) most = fmaxf(most, partial_lse[(long long)row * splits + s]);
    float total = 0, o[4] = {};
    for (int s = 0; s < splits; s++) {
        const float l = partial_lse[(long long)row * splits + s];
        if (l == -INFINITY) continue;
        const float w = expf(l - most);
        total += w;
        for (int e = 0; e < 4; e++) o[e] += w * partial[((long long)row * splits + s) * 128 + threadIdx.x + 32 * e];
    }
    for (int e = 0; e < 4; e++) out[(long long)row * 128 + threadIdx.x + 32 * e] = o[e] / total;
    if (threadIdx.x == 0) lse[row] = most + logf(total);
}

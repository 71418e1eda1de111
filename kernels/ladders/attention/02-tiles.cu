// Attention: 64 queries a block, 64 keys at a time, in shared memory.
//
// lockstep: block = 256
// lockstep: grid = ceil_div(queries, 64) * batch * heads
// lockstep: dynamic_shared_bytes = 3 * 64 * (HEAD + 2) * 2 + 64 * 65 * 4
//
// Against the rung before: a tile of keys and values is read from memory once for 64 queries, and each thread computes 4 x 4 scores and
// 4 rows of HEAD / 16 outputs from registers. Maximum and sum of a row are needed once for 64 keys, not once for each.
#include "lab.cuh"
#include <cuda_bf16.h>

#ifndef HEAD
#define HEAD 128
#endif

constexpr int TILE = 64, PITCH = HEAD + 2; // elements from row to row: an odd number of words, so that rows begin in different banks
constexpr int EACH = HEAD / 16;

__device__ inline void load(__nv_bfloat16* tile, const __nv_bfloat16* matrix, int first, int rows)
{
    for (int i = threadIdx.x; i < TILE * HEAD / 2; i += 256) {
        int row = i / (HEAD / 2), pair = i % (HEAD / 2);
        __nv_bfloat162 value = __float2bfloat162_rn(0.0f);
        if (first + row < rows) value = reinterpret_cast<const __nv_bfloat162*>(matrix + static_cast<int64_t>(first + row) * HEAD)[pair];
        reinterpret_cast<__nv_bfloat162*>(tile + row * PITCH)[pair] = value;
    }
}

extern "C" __global__ void __launch_bounds__(256)
attention(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v, __nv_bfloat16* out, float* lse, int batch, int heads,
          int key_heads, int queries, int keys, int causal)
{
    extern __shared__ __align__(16) unsigned char shared[];
    __nv_bfloat16* q_tile = reinterpret_cast<__nv_bfloat16*>(shared);
    __nv_bfloat16 *k_tile = q_tile + TILE * PITCH, *v_tile = k_tile + TILE * PITCH;
    float* weights = reinterpret_cast<float*>(v_tile + TILE * PITCH); // 64 x 65
    int blocks = ceil_div(queries, TILE), matrix = blockIdx.x / blocks, row0 = blockIdx.x % blocks * TILE;
    int key_matrix = matrix / heads * key_heads + matrix % heads / (heads / key_heads);
    q += static_cast<int64_t>(matrix) * queries * HEAD;
    k += static_cast<int64_t>(key_matrix) * keys * HEAD;
    v += static_cast<int64_t>(key_matrix) * keys * HEAD;
    int x = threadIdx.x % 16, y = threadIdx.x / 16; // rows y + 16 * i; the 16 lanes of a half warp share them
    float scale = rsqrtf(static_cast<float>(HEAD));
    float o[4][EACH] = {}, top[4], sum[4] = {};
    for (int i = 0; i < 4; ++i) top[i] = -INFINITY;

    load(q_tile, q, row0, queries);
    int last = causal ? least(keys, least(row0 + TILE, queries) + keys - queries) : keys;
    for (int first = 0; first < last; first += TILE) {
        __syncthreads();
        load(k_tile, k, first, keys);
        load(v_tile, v, first, keys);
        __syncthreads();
        float s[4][4] = {};
#pragma unroll 4
        for (int pair = 0; pair < HEAD / 2; ++pair) {
            float2 a[4], b[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                a[i] = __bfloat1622float2(reinterpret_cast<__nv_bfloat162*>(q_tile + (y + 16 * i) * PITCH)[pair]);
                b[i] = __bfloat1622float2(reinterpret_cast<__nv_bfloat162*>(k_tile + (x + 16 * i) * PITCH)[pair]);
            }
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) s[i][j] += a[i].x * b[j].x + a[i].y * b[j].y;
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            int row = row0 + y + 16 * i, limit = (causal ? least(keys, row + 1 + keys - queries) : keys) - first;
            float most = top[i];
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                s[i][j] = x + 16 * j < limit ? s[i][j] * scale : -INFINITY;
                most = fmaxf(most, s[i][j]);
            }
#pragma unroll
            for (int distance = 8; distance > 0; distance /= 2) most = fmaxf(most, __shfl_xor_sync(FULL_MASK, most, distance));
            float subtract = most == -INFINITY ? 0.0f : most, factor = __expf(top[i] - subtract);
            top[i] = most;
            sum[i] *= factor;
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                float weight = __expf(s[i][j] - subtract);
                sum[i] += weight;
                weights[(y + 16 * i) * 65 + x + 16 * j] = weight;
            }
#pragma unroll
            for (int e = 0; e < EACH; ++e) o[i][e] *= factor;
        }
        __syncwarp(); // a row's weights are written and read by the same half warp
#pragma unroll 2
        for (int key = 0; key < TILE; ++key) {
            float value[EACH];
#pragma unroll
            for (int e = 0; e < EACH; ++e) value[e] = __bfloat162float(v_tile[key * PITCH + x + 16 * e]);
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                float weight = weights[(y + 16 * i) * 65 + key];
#pragma unroll
                for (int e = 0; e < EACH; ++e) o[i][e] += weight * value[e];
            }
        }
        __syncwarp();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        float total = sum[i];
#pragma unroll
        for (int distance = 8; distance > 0; distance /= 2) total += __shfl_xor_sync(FULL_MASK, total, distance);
        int row = row0 + y + 16 * i;
        if (row < queries) {
            float share = total > 0.0f ? 1.0f / total : 0.0f;
            int64_t line = static_cast<int64_t>(matrix) * queries + row;
#pragma unroll
            for (int e = 0; e < EACH; ++e) out[line * HEAD + x + 16 * e] = __float2bfloat16(o[i][e] * share);
            if (x == 0) lse[line] = total > 0.0f ? top[i] + logf(total) : -INFINITY;
        }
    }
}

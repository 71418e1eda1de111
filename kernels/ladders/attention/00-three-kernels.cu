// Attention as the formula says it, in three kernels: all scores, a softmax of each row, and the weighted sum of the values.
//
// lockstep: attention_scores.block = TILE, 8
// lockstep: attention_scores.grid = ceil_div(keys, TILE), ceil_div(queries, TILE), batch * heads
// lockstep: softmax_rows.block = 32 * WARPS
// lockstep: softmax_rows.grid = ceil_div(batch * heads * queries, WARPS)
// lockstep: attention_output.block = TILE, 8
// lockstep: attention_output.grid = 1, ceil_div(queries, TILE), batch * heads
//
// Between the kernels a matrix of queries x keys floats for each head lies in global memory. It is written twice and read four
// times: for the maximum, the sum and the weights, and by the product. The later rungs never store it.
#include "lab.cuh"
#include <cuda_bf16.h>

#ifndef HEAD
#define HEAD 128
#endif
#define TILE 32
#define WARPS 8

constexpr int ROWS = TILE / 8;          // of a thread
constexpr int COLUMNS = HEAD / TILE;    // of a thread, in the output

// How many keys a query sees.
__device__ int seen_by(int query, int queries, int keys, int causal)
{
    return causal ? least(keys, query + 1 + keys - queries) : keys;
}

extern "C" __global__ void attention_scores(const __nv_bfloat16* q, const __nv_bfloat16* k, float* work, int heads, int key_heads,
                                            int queries, int keys, int causal)
{
    __shared__ float q_tile[TILE][TILE + 1], k_tile[TILE][TILE + 1];
    int matrix = blockIdx.z, key_matrix = matrix / heads * key_heads + matrix % heads / (heads / key_heads);
    int first_query = blockIdx.y * TILE, first_key = blockIdx.x * TILE, x = threadIdx.x, y = threadIdx.y;
    // No query of the tile sees any of these keys.
    if (first_key >= seen_by(least(first_query + TILE, queries) - 1, queries, keys, causal)) return;
    q += static_cast<int64_t>(matrix) * queries * HEAD;
    k += static_cast<int64_t>(key_matrix) * keys * HEAD;
    float sum[ROWS] = {};
    for (int from = 0; from < HEAD; from += TILE) {
#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
            int row = y + 8 * i, query = first_query + row, key = first_key + row;
            q_tile[row][x] = query < queries ? __bfloat162float(q[static_cast<int64_t>(query) * HEAD + from + x]) : 0.0f;
            k_tile[row][x] = key < keys ? __bfloat162float(k[static_cast<int64_t>(key) * HEAD + from + x]) : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int c = 0; c < TILE; ++c) {
#pragma unroll
            for (int i = 0; i < ROWS; ++i) sum[i] += q_tile[y + 8 * i][c] * k_tile[x][c];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        int query = first_query + y + 8 * i, key = first_key + x;
        if (query < queries && key < keys)
            work[(static_cast<int64_t>(matrix) * queries + query) * keys + key] = sum[i] * rsqrtf(static_cast<float>(HEAD));
    }
}

// One warp a row. The weights take the place of the scores.
extern "C" __global__ void softmax_rows(float* work, float* lse, int rows, int queries, int keys, int causal)
{
    int row = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    int last = seen_by(row % queries, queries, keys, causal);
    work += static_cast<int64_t>(row) * keys;
    float most = -INFINITY, total = 0.0f;
    for (int key = lane; key < last; key += 32) most = fmaxf(most, work[key]);
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) most = fmaxf(most, __shfl_xor_sync(FULL_MASK, most, distance));
    for (int key = lane; key < last; key += 32) total += __expf(work[key] - most);
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) total += __shfl_xor_sync(FULL_MASK, total, distance);
    float share = total > 0.0f ? 1.0f / total : 0.0f;
    for (int key = lane; key < keys; key += 32) work[key] = key < last ? __expf(work[key] - most) * share : 0.0f;
    if (lane == 0) lse[row] = total > 0.0f ? most + __logf(total) : -INFINITY;
}

extern "C" __global__ void attention_output(const float* work, const __nv_bfloat16* v, __nv_bfloat16* out, int heads, int key_heads,
                                            int queries, int keys, int causal)
{
    __shared__ float weights[TILE][TILE + 1], v_tile[TILE][HEAD];
    int matrix = blockIdx.z, key_matrix = matrix / heads * key_heads + matrix % heads / (heads / key_heads);
    int first_query = blockIdx.y * TILE, x = threadIdx.x, y = threadIdx.y;
    work += static_cast<int64_t>(matrix) * queries * keys;
    v += static_cast<int64_t>(key_matrix) * keys * HEAD;
    int last = seen_by(least(first_query + TILE, queries) - 1, queries, keys, causal);
    float sum[ROWS][COLUMNS] = {};
    for (int first = 0; first < last; first += TILE) {
#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
            int row = y + 8 * i, query = first_query + row, key = first + row;
            bool is_weight = query < queries && first + x < keys;
            weights[row][x] = is_weight ? work[static_cast<int64_t>(query) * keys + first + x] : 0.0f;
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j)
                v_tile[row][x + TILE * j] = key < keys ? __bfloat162float(v[static_cast<int64_t>(key) * HEAD + x + TILE * j]) : 0.0f;
        }
        __syncthreads();
#pragma unroll 4
        for (int key = 0; key < TILE; ++key) {
#pragma unroll
            for (int i = 0; i < ROWS; ++i) {
#pragma unroll
                for (int j = 0; j < COLUMNS; ++j) sum[i][j] += weights[y + 8 * i][key] * v_tile[key][x + TILE * j];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        int query = first_query + y + 8 * i;
        if (query >= queries) break;
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j)
            out[(static_cast<int64_t>(matrix) * queries + query) * HEAD + x + TILE * j] = __float2bfloat16(sum[i][j]);
    }
}

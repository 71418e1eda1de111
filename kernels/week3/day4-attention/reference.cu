#include "lab.cuh"

// Both products in tiles of 64 x 64, with 4 x 4 results in the registers of each of 256 threads. The weights take the place of the
// scores, so one matrix is enough. Tiles of keys that no query of the tile may see are neither computed nor read.
// lockstep: size(work) = max(1, heads * queries * keys)
// lockstep: attention_scores.block = 256
// lockstep: attention_scores.grid = ceil_div(keys, TILE), ceil_div(queries, TILE), heads
// lockstep: softmax_rows.block = THREADS
// lockstep: softmax_rows.grid = heads * queries
// lockstep: attention_output.block = 256
// lockstep: attention_output.grid = ceil_div(d, TILE), ceil_div(queries, TILE), heads
#define TILE 64
#define SLAB 16
#define PITCH (TILE + 4)
#define THREADS 128

// How many keys a query sees.
__device__ int seen_by(int query, int queries, int keys, int causal)
{
    return causal ? min(keys, max(0, query + 1 + keys - queries)) : keys;
}

// Four neighbors of a row of `columns` floats, from column `first` on; 0 behind the end.
__device__ float4 four_of(const float* row, int first, int columns)
{
    if (columns % 4 == 0 && first < columns) {
        return *reinterpret_cast<const float4*>(row + first);
    }
    float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (first < columns) v.x = row[first];
    if (first + 1 < columns) v.y = row[first + 1];
    if (first + 2 < columns) v.z = row[first + 2];
    if (first + 3 < columns) v.w = row[first + 3];
    return v;
}

// A thread's 4 x 4 results from one slab: a is [SLAB][rows], b [SLAB][columns].
__device__ void multiply(const float (*a)[PITCH], const float (*b)[PITCH], int row, int column, float (&sum)[4][4])
{
#pragma unroll
    for (int c = 0; c < SLAB; c++) {
        const float4 x = *reinterpret_cast<const float4*>(&a[c][row]), y = *reinterpret_cast<const float4*>(&b[c][column]);
        const float left[4] = {x.x, x.y, x.z, x.w}, right[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
        for (int i = 0; i < 4; i++) {
#pragma unroll
            for (int j = 0; j < 4; j++) {
                sum[i][j] += left[i] * right[j];
            }
        }
    }
}

// Stores four floats as a column of a transposed slab.
__device__ void store_turned(float (*slab)[PITCH], int c, int row, float4 v)
{
    slab[c][row] = v.x;
    slab[c + 1][row] = v.y;
    slab[c + 2][row] = v.z;
    slab[c + 3][row] = v.w;
}

extern "C" __global__ void __launch_bounds__(256)
    attention_scores(const float* __restrict__ q, const float* __restrict__ k, float* __restrict__ work, int heads, int key_heads,
                     int queries, int keys, int d, int causal)
{
    __shared__ float4 memory[2 * SLAB * PITCH / 4];
    float(*q_slab)[PITCH] = reinterpret_cast<float(*)[PITCH]>(memory);
    float(*k_slab)[PITCH] = q_slab + SLAB;
    const int head = blockIdx.z, key_head = head / (heads / key_heads);
    const int first_query = blockIdx.y * TILE, first_key = blockIdx.x * TILE;
    if (first_key >= seen_by(min(first_query + TILE, queries) - 1, queries, keys, causal)) {
        return;
    }
    q += (long long)head * queries * d;
    k += (long long)key_head * keys * d;
    const int row = threadIdx.x / 16 * 4, column = threadIdx.x % 16 * 4;  // of the results
    const int from = threadIdx.x / 4, c = threadIdx.x % 4 * 4;           // of the loads
    float sum[4][4] = {};
    for (int first = 0; first < d; first += SLAB) {
        const float4 nothing = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        const int query = first_query + from, key = first_key + from;
        store_turned(q_slab, c, from, query < queries ? four_of(q + (long long)query * d, first + c, d) : nothing);
        store_turned(k_slab, c, from, key < keys ? four_of(k + (long long)key * d, first + c, d) : nothing);
        __syncthreads();
        multiply(q_slab, k_slab, row, column, sum);
        __syncthreads();
    }
    const float scale = 1.0f / sqrtf(d);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int query = first_query + row + i, key = first_key + column;
        if (query < queries) {
            float* to = work + ((long long)head * queries + query) * keys + key;
            if (keys % 4 == 0 && key < keys) {
                *reinterpret_cast<float4*>(to) =
                    make_float4(scale * sum[i][0], scale * sum[i][1], scale * sum[i][2], scale * sum[i][3]);
            } else {
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    if (key + j < keys) to[j] = scale * sum[i][j];
                }
            }
        }
    }
}

template <bool IS_SUM>
__device__ float in_block(float value)
{
    __shared__ float part[THREADS / 32];
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        const float other = __shfl_xor_sync(FULL_MASK, value, distance);
        value = IS_SUM ? value + other : fmaxf(value, other);
    }
    if (threadIdx.x % 32 == 0) {
        part[threadIdx.x / 32] = value;
    }
    __syncthreads();
    value = part[0];
#pragma unroll
    for (int warp = 1; warp < THREADS / 32; warp++) {
        value = IS_SUM ? value + part[warp] : fmaxf(value, part[warp]);
    }
    return value;
}

// Of the keys that a query sees; what is behind them stays as it is, and the next kernel takes it for 0.
extern "C" __global__ void __launch_bounds__(THREADS)
    softmax_rows(float* work, float* __restrict__ lse, int heads, int queries, int keys, int causal)
{
    constexpr int HELD = 32;
    float* row = work + (long long)blockIdx.x * keys;
    const int seen = seen_by(blockIdx.x % queries, queries, keys, causal);
    float held[HELD], most = -INFINITY, sum = 0.0f;
    const bool fits = seen <= HELD * THREADS;
    if (fits) {
#pragma unroll
        for (int i = 0; i < HELD; i++) {
            const int key = threadIdx.x + i * THREADS;
            if (i * THREADS >= seen) break;
            held[i] = key < seen ? row[key] : -INFINITY;
            most = fmaxf(most, held[i]);
        }
    } else {
        for (int key = threadIdx.x; key < seen; key += THREADS) most = fmaxf(most, row[key]);
    }
    most = in_block<false>(most);
    if (fits) {
#pragma unroll
        for (int i = 0; i < HELD; i++) {
            if (i * THREADS >= seen) break;
            held[i] = __expf(held[i] - most);
            sum += held[i];
        }
    } else {
        for (int key = threadIdx.x; key < seen; key += THREADS) sum += __expf(row[key] - most);
    }
    sum = in_block<true>(sum);
    const float factor = 1.0f / sum;
    if (fits) {
#pragma unroll
        for (int i = 0; i < HELD; i++) {
            const int key = threadIdx.x + i * THREADS;
            if (i * THREADS >= seen) break;
            if (key < seen) row[key] = held[i] * factor;
        }
    } else {
        for (int key = threadIdx.x; key < seen; key += THREADS) row[key] = __expf(row[key] - most) * factor;
    }
    if (threadIdx.x == 0) {
        lse[blockIdx.x] = most + logf(sum);
    }
}

extern "C" __global__ void __launch_bounds__(256)
    attention_output(const float* __restrict__ work, const float* __restrict__ v, float* __restrict__ out, int heads, int key_heads,
                     int queries, int keys, int d, int causal)
{
    __shared__ float4 memory[2 * SLAB * PITCH / 4];
    float(*w_slab)[PITCH] = reinterpret_cast<float(*)[PITCH]>(memory);
    float(*v_slab)[PITCH] = w_slab + SLAB;
    const int head = blockIdx.z, key_head = head / (heads / key_heads);
    const int first_query = blockIdx.y * TILE, first_column = blockIdx.x * TILE;
    v += (long long)key_head * keys * d;
    const int row = threadIdx.x / 16 * 4, column = threadIdx.x % 16 * 4;
    const int from = threadIdx.x / 4, c = threadIdx.x % 4 * 4;           // of the loads
    const int query = first_query + from;
    const int seen = query < queries ? seen_by(query, queries, keys, causal) : 0;
    const int last = seen_by(min(first_query + TILE, queries) - 1, queries, keys, causal);
    const float* weights = work + ((long long)head * queries + query) * keys;
    float sum[4][4] = {};
    for (int first = 0; first < last; first += SLAB) {
        float4 w = make_float4(0.0f, 0.0f, 0.0f, 0.0f), x = w;
        if (first + c < seen) {
            w = four_of(weights, first + c, keys);
            if (first + c + 1 >= seen) w.y = 0.0f;
            if (first + c + 2 >= seen) w.z = 0.0f;
            if (first + c + 3 >= seen) w.w = 0.0f;
        }
        const int key = first + threadIdx.x / 16;
        if (key < keys) {
            x = four_of(v + (long long)key * d, first_column + column, d);
        }
        store_turned(w_slab, c, from, w);
        *reinterpret_cast<float4*>(&v_slab[threadIdx.x / 16][column]) = x;
        __syncthreads();
        multiply(w_slab, v_slab, row, column, sum);
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        if (first_query + row + i < queries) {
            float* to = out + ((long long)head * queries + first_query + row + i) * d + first_column + column;
            if (d % 4 == 0 && first_column + column < d) {
                *reinterpret_cast<float4*>(to) = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
            } else {
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    if (first_column + column + j < d) to[j] = sum[i][j];
                }
            }
        }
    }
}

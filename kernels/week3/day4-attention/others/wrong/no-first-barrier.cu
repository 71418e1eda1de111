// Tiles without a barrier after loading.
// rejected for: race
// leads to: __syncthreads
#include "lab.cuh"

// out = softmax(q * transpose(k) / sqrt(d)) * v for every head, in three kernels. `work` holds two matrices for each head: the
// scores, and behind them the weights, both [heads][queries][keys].
// lockstep: attention_scores.block = 16, 16
// lockstep: attention_scores.grid = ceil_div(keys, 16), ceil_div(queries, 16), heads
// lockstep: softmax_rows.block = THREADS
// lockstep: softmax_rows.grid = heads * queries
// lockstep: attention_output.block = 16, 16
// lockstep: attention_output.grid = ceil_div(d, 16), ceil_div(queries, 16), heads
#define THREADS 128

// One thread computes one score.
extern "C" __global__ void attention_scores(const float* q, const float* k, float* work, int heads, int key_heads, int queries,
                                            int keys, int d, int causal)
{
    __shared__ float qs[16][17], ks[16][17];
    int head = blockIdx.z, kv = head / (heads / key_heads), x = threadIdx.x, y = threadIdx.y;
    int key = blockIdx.x * 16 + x, query = blockIdx.y * 16 + y, load = blockIdx.x * 16 + y;
    float score = 0.0f;
    for (int f = 0; f < d; f += 16) {
        qs[y][x] = query < queries && f + x < d ? q[((long long)head * queries + query) * d + f + x] : 0.0f;
        ks[y][x] = load < keys && f + x < d ? k[((long long)kv * keys + load) * d + f + x] : 0.0f;
        for (int c = 0; c < 16; c++) score += qs[y][c] * ks[x][c];
        __syncthreads();
    }
    if (key < keys && query < queries) {
        bool hidden = causal && key > query + keys - queries;
        work[((long long)head * queries + query) * keys + key] = hidden ? -INFINITY : score * rsqrtf(d);
    }
}

// The largest of all threads' values, or with IS_SUM their sum, in every thread.
template <bool IS_SUM>
__device__ float in_block(float value)
{
    __shared__ float part[THREADS / 32];
    for (int distance = 16; distance > 0; distance /= 2) {
        const float other = __shfl_xor_sync(FULL_MASK, value, distance);
        value = IS_SUM ? value + other : fmaxf(value, other);
    }
    if (threadIdx.x % 32 == 0) {
        part[threadIdx.x / 32] = value;
    }
    __syncthreads();
    value = part[0];
    for (int warp = 1; warp < THREADS / 32; warp++) {
        value = IS_SUM ? value + part[warp] : fmaxf(value, part[warp]);
    }
    return value;
}

// Yesterday's stable softmax. One block does one row: one query of one head.
extern "C" __global__ void softmax_rows(float* work, float* lse, int heads, int queries, int keys, int causal)
{
    const float* scores = work + (long long)blockIdx.x * keys;
    float* weights = work + (long long)heads * queries * keys + (long long)blockIdx.x * keys;
    float most = -INFINITY, sum = 0.0f;
    for (int key = threadIdx.x; key < keys; key += THREADS) {
        most = fmaxf(most, scores[key]);
    }
    most = in_block<false>(most);
    for (int key = threadIdx.x; key < keys; key += THREADS) {
        sum += expf(scores[key] - most);
    }
    sum = in_block<true>(sum);
    for (int key = threadIdx.x; key < keys; key += THREADS) {
        weights[key] = expf(scores[key] - most) / sum;
    }
    if (threadIdx.x == 0) {
        lse[blockIdx.x] = most + logf(sum);
    }
}

// One thread computes one element of the output.
extern "C" __global__ void attention_output(const float* work, const float* v, float* out, int heads, int key_heads, int queries,
                                            int keys, int d, int causal)
{
    __shared__ float ws[16][17], vs[16][17];
    int head = blockIdx.z, kv = head / (heads / key_heads), x = threadIdx.x, y = threadIdx.y;
    int column = blockIdx.x * 16 + x, query = blockIdx.y * 16 + y;
    const float* weights = work + (long long)heads * queries * keys + ((long long)head * queries + query) * keys;
    float sum = 0.0f;
    for (int f = 0; f < keys; f += 16) {
        ws[y][x] = query < queries && f + x < keys ? weights[f + x] : 0.0f;
        vs[y][x] = column < d && f + y < keys ? v[((long long)kv * keys + f + y) * d + column] : 0.0f;
        __syncthreads();
        for (int c = 0; c < 16; c++) sum += ws[y][c] * vs[c][x];
        __syncthreads();
    }
    if (query < queries && column < d) out[((long long)head * queries + query) * d + column] = sum;
}

// Softmax with one warp a row.
// does not reach: In place
// does not reach: Tiles
// does not reach: Only what is seen
#include "lab.cuh"

// out = softmax(q * transpose(k) / sqrt(d)) * v for every head, in three kernels. `work` holds two matrices for each head: the
// scores, and behind them the weights, both [heads][queries][keys].
// lockstep: attention_scores.block = 32, 8
// lockstep: attention_scores.grid = ceil_div(keys, 32), ceil_div(queries, 8), heads
// lockstep: softmax_rows.block = THREADS
// lockstep: softmax_rows.grid = ceil_div(heads * queries, THREADS / 32)
// lockstep: attention_output.block = 32, 8
// lockstep: attention_output.grid = ceil_div(d, 32), ceil_div(queries, 8), heads
#define THREADS 128

// One thread computes one score.
extern "C" __global__ void attention_scores(const float* q, const float* k, float* work, int heads, int key_heads, int queries,
                                            int keys, int d, int causal)
{
    const int head = blockIdx.z;
    const int key = blockIdx.x * 32 + threadIdx.x, query = blockIdx.y * 8 + threadIdx.y;
    if (key < keys && query < queries) {
        const int key_head = head / (heads / key_heads);
        const float* q_row = q + ((long long)head * queries + query) * d;
        const float* k_row = k + ((long long)key_head * keys + key) * d;
        float score = 0.0f;
        for (int i = 0; i < d; i++) {
            score += q_row[i] * k_row[i];
        }
        score /= sqrtf(d);
        if (causal && key > query + keys - queries) {
            score = -INFINITY;
        }
        work[((long long)head * queries + query) * keys + key] = score;
    }
}

extern "C" __global__ void softmax_rows(float* work, float* lse, int heads, int queries, int keys, int causal)
{
    int row = blockIdx.x * (THREADS / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= heads * queries) return;
    const float* s = work + (size_t)row * keys;
    float m = -INFINITY, l = 0;
    for (int i = lane; i < keys; i += 32) m = fmaxf(m, s[i]);
    for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    for (int i = lane; i < keys; i += 32) l += __expf(s[i] - m);
    for (int o = 16; o; o >>= 1) l += __shfl_xor_sync(~0u, l, o);
    for (int i = lane; i < keys; i += 32) work[(size_t)(heads * queries + row) * keys + i] = __expf(s[i] - m) / l;
    if (lane == 0) lse[row] = m + __logf(l);
}

// One thread computes one element of the output.
extern "C" __global__ void attention_output(const float* work, const float* v, float* out, int heads, int key_heads, int queries,
                                            int keys, int d, int causal)
{
    const int head = blockIdx.z;
    const int column = blockIdx.x * 32 + threadIdx.x, query = blockIdx.y * 8 + threadIdx.y;
    if (column < d && query < queries) {
        const int key_head = head / (heads / key_heads);
        const float* weights = work + (long long)heads * queries * keys + ((long long)head * queries + query) * keys;
        const float* v_column = v + (long long)key_head * keys * d + column;
        float sum = 0.0f;
        for (int key = 0; key < keys; key++) {
            sum += weights[key] * v_column[(long long)key * d];
        }
        out[((long long)head * queries + query) * d + column] = sum;
    }
}

// A thread a key for the maximum: keys from THREADS on have no part in it.
// rejected for: nan_output
// leads to: every key of the row
#include "lab.cuh"

// out = softmax(q * transpose(k) / sqrt(d)) * v for every head, in three kernels. `work` holds two matrices for each head: the
// scores, and behind them the weights, both [heads][queries][keys].
// lockstep: attention_scores.block = 32, 8
// lockstep: attention_scores.grid = ceil_div(keys, 32), ceil_div(queries, 8), heads
// lockstep: softmax_rows.block = THREADS
// lockstep: softmax_rows.grid = heads * queries
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
    for (int key = threadIdx.x; key < THREADS && key < keys; key += THREADS) {
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

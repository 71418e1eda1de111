// As on a CPU: one thread does one query, in all three kernels.
// does not reach: In place
// does not reach: Tiles
// does not reach: Only what is seen
#include "lab.cuh"
// lockstep: attention_scores.block = 64
// lockstep: attention_scores.grid = ceil_div(heads * queries, 64)
// lockstep: softmax_rows.block = 64
// lockstep: softmax_rows.grid = ceil_div(heads * queries, 64)
// lockstep: attention_output.block = 64
// lockstep: attention_output.grid = ceil_div(heads * queries, 64)
extern "C" __global__ void attention_scores(const float* q, const float* k, float* work, int heads, int key_heads, int queries,
                                            int keys, int d, int causal)
{
    int row = blockIdx.x * 64 + threadIdx.x;
    if (row >= heads * queries) return;
    int h = row / queries, r = row % queries, group = heads / key_heads;
    for (int c = 0; c < keys; c++) {
        float s = 0;
        for (int i = 0; i < d; i++) s = fmaf(q[row * d + i], k[(h / group * keys + c) * d + i], s);
        work[(size_t)row * keys + c] = causal && c - r > keys - queries ? -INFINITY : s * rsqrtf(d);
    }
}

extern "C" __global__ void softmax_rows(float* work, float* lse, int heads, int queries, int keys, int causal)
{
    int row = blockIdx.x * 64 + threadIdx.x;
    if (row >= heads * queries) return;
    const float* s = work + (size_t)row * keys;
    float* w = work + (size_t)(heads * queries + row) * keys;
    float m = s[0], l = 1;
    for (int c = 1; c < keys; c++) {  // in one pass
        if (s[c] > m) l = l * expf(m - s[c]) + 1, m = s[c];
        else l += expf(s[c] - m);
    }
    for (int c = 0; c < keys; c++) w[c] = expf(s[c] - m) / l;
    lse[row] = logf(l) + m;
}

extern "C" __global__ void attention_output(const float* work, const float* v, float* out, int heads, int key_heads, int queries,
                                            int keys, int d, int causal)
{
    int row = blockIdx.x * 64 + threadIdx.x;
    if (row >= heads * queries) return;
    const float* w = work + (size_t)(heads * queries + row) * keys;
    const float* from = v + (size_t)(row / queries / (heads / key_heads)) * keys * d;
    for (int i = 0; i < d; i++) {
        float sum = 0;
        for (int c = 0; c < keys; c++) sum += w[c] * from[(size_t)c * d + i];
        out[(size_t)row * d + i] = sum;
    }
}

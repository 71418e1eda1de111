// A block for each query, the softmax by a warp for each row, in place and online.
// does not reach: Tiles
#include "lab.cuh"
// lockstep: attention_scores.block = 128
// lockstep: attention_scores.grid = queries, heads
// lockstep: softmax_rows.block = 32, 4
// lockstep: softmax_rows.grid = ceil_div(heads * queries, 4)
// lockstep: attention_output.block = 64
// lockstep: attention_output.grid = queries, heads
// lockstep: size(work) = heads * queries * keys
__device__ __forceinline__ size_t row_of(int head, int query, int queries) { return (size_t)head * queries + query; }

extern "C" __global__ void attention_scores(const float* __restrict__ q, const float* __restrict__ k, float* __restrict__ work, int heads, int key_heads, int queries, int keys, int d, int causal)
{
    extern __shared__ float unused[];
    __shared__ float row[128];
    const int query = blockIdx.x, head = blockIdx.y, group = heads / key_heads;
    const float* kk = k + (size_t)(head / group) * keys * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x) row[i] = q[row_of(head, query, queries) * d + i];
    __syncthreads();
    const int seen = causal ? keys - queries + query + 1 : keys;
    for (int key = threadIdx.x; key < keys; key += blockDim.x) {
        float s = 0;
        if (key < seen)
            for (int i = 0; i < d; i++) s += row[i] * kk[(size_t)key * d + i];
        work[row_of(head, query, queries) * keys + key] = key < seen ? s / sqrtf(float(d)) : -INFINITY;
    }
}
extern "C" __global__ void softmax_rows(float* work, float* lse, int heads, int queries, int keys, int causal)
{
    const int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (row >= heads * queries) return;
    float* s = work + (size_t)row * keys;
    float m = -INFINITY, l = 0;
    for (int i = lane; i < keys; i += 32) {
        const float old = m;
        m = fmaxf(m, s[i]);
        l = (l == 0 ? 0 : l * expf(old - m)) + (s[i] == -INFINITY ? 0 : expf(s[i] - m));
    }
    for (int o = 16; o; o >>= 1) {
        const float om = __shfl_xor_sync(FULL_MASK, m, o), ol = __shfl_xor_sync(FULL_MASK, l, o);
        const float nm = fmaxf(m, om);
        l = (l == 0 ? 0 : l * expf(m - nm)) + (ol == 0 ? 0 : ol * expf(om - nm));
        m = nm;
    }
    const float total = m + logf(l);
    for (int i = lane; i < keys; i += 32) s[i] = expf(s[i] - total);
    if (lane == 0) lse[row] = total;
}
extern "C" __global__ void attention_output(const float* work, const float* v, float* out, int heads, int key_heads, int queries, int keys, int d, int causal)
{
    const int query = blockIdx.x, head = blockIdx.y;
    const float* p = work + row_of(head, query, queries) * keys;
    const float* vv = v + (size_t)(head / (heads / key_heads)) * keys * d;
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        float s = 0;
        for (int key = 0; key < keys; key++) s += p[key] * vv[(size_t)key * d + c];
        out[row_of(head, query, queries) * d + c] = s;
    }
}

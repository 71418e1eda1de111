#include "lab.cuh"

// Attention with d = 16, one thread a query, blockIdx.y a query head. heads / key_heads query heads in a row share one key head.
#define D 16

extern "C" __global__ void grouped_attention(
    const float* q, const float* k, const float* v, float* out, int heads, int key_heads, int queries, int keys)
{
    const int query = blockIdx.x * blockDim.x + threadIdx.x;
    if (query >= queries) {
        return;
    }
    const int head = blockIdx.y;
    const int key_head = 0;
    q += head * queries * D;
    out += head * queries * D;
    k += key_head * keys * D;
    v += key_head * keys * D;

    float sum[D] = {};
    float m = -INFINITY, l = 0.0f;
    for (int key = 0; key < keys; key++) {
        float score = 0.0f;
        for (int c = 0; c < D; c++) {
            score += q[query * D + c] * k[key * D + c];
        }
        score *= rsqrtf(D);
        const float most = fmaxf(m, score);
        const float factor = expf(m - most), weight = expf(score - most);
        m = most;
        l = l * factor + weight;
        for (int c = 0; c < D; c++) {
            sum[c] = sum[c] * factor + weight * v[key * D + c];
        }
    }
    for (int c = 0; c < D; c++) {
        out[query * D + c] = sum[c] / l;
    }
}

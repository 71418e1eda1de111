#include "lab.cuh"

// Causal attention of one head with d = 16, one thread a query. The last query sees all keys, the one before it all but the last.
#define D 16

extern "C" __global__ void causal_attention(
    const float* q, const float* k, const float* v, float* out, int queries, int keys, int causal)
{
    const int query = blockIdx.x * blockDim.x + threadIdx.x;
    if (query >= queries) {
        return;
    }
    const int seen = max(0, query + 1 + keys - queries);

    float sum[D] = {};
    float m = -INFINITY, l = 0.0f;
    for (int key = 0; key < seen; key++) {
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
        out[query * D + c] = seen > 0 ? sum[c] / l : 0.0f;
    }
}

#include "lab.cuh"

// Attention of one head in one loop over the keys, one thread a query. FORGET 1 forgets the factor of l, 2 that of the output, 3 both.
#define FORGET 0

#define D 64

extern "C" __global__ void one_loop(const float* q, const float* k, const float* v, float* out, int queries, int keys)
{
    const int query = blockIdx.x * blockDim.x + threadIdx.x;
    if (query >= queries) {
        return;
    }
    float mine[D], sum[D];
    for (int c = 0; c < D; c++) {
        mine[c] = q[query * D + c];
        sum[c] = 0.0f;
    }
    //@ loop
    float m = -INFINITY, l = 0.0f;
    for (int key = 0; key < keys; key++) {
        float score = 0.0f;
        for (int c = 0; c < D; c++) {
            score += mine[c] * k[key * D + c];
        }
        score *= rsqrtf(D);

        const float most = fmaxf(m, score);
        const float factor = expf(m - most), weight = expf(score - most);
        m = most;
        l = l * (FORGET & 1 ? 1.0f : factor) + weight;
        for (int c = 0; c < D; c++) {
            sum[c] = sum[c] * (FORGET & 2 ? 1.0f : factor) + weight * v[key * D + c];
        }
    }
    //@ end
    for (int c = 0; c < D; c++) {
        out[query * D + c] = sum[c] / l;
    }
}

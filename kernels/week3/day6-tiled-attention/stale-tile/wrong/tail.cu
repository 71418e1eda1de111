#include "lab.cuh"

// Attention of one head with d = 16, one thread a query, keys in tiles of 32.
// lockstep: block = QUERIES
// lockstep: grid = ceil_div(queries, QUERIES)
#define D 16
#define QUERIES 128
#define KEYS 32

extern "C" __global__ void tile_attention(
    const float* q, const float* k, const float* v, float* out, int queries, int keys)
{
    __shared__ float tile_k[KEYS][D], tile_v[KEYS][D];
    const int query = blockIdx.x * QUERIES + threadIdx.x;
    float mine[D] = {}, sum[D] = {};
    if (query < queries) {
        for (int c = 0; c < D; c++) {
            mine[c] = q[query * D + c];
        }
    }
    float m = -INFINITY, l = 0.0f;

    for (int first = 0; first < keys; first += KEYS) {
        for (int i = threadIdx.x; i < KEYS * D; i += QUERIES) {
            const bool exists = first + i / D < keys;
            tile_k[i / D][i % D] = exists ? k[first * D + i] : 0.0f;
            tile_v[i / D][i % D] = exists ? v[first * D + i] : 0.0f;
        }
        __syncthreads();

        for (int j = 0; j < KEYS; j++) {
            float score = 0.0f;
            for (int c = 0; c < D; c++) {
                score += mine[c] * tile_k[j][c];
            }
            score *= rsqrtf(D);

            const float most = fmaxf(m, score);
            const float factor = expf(m - most), weight = expf(score - most);
            m = most;
            l = l * factor + weight;
            for (int c = 0; c < D; c++) {
                sum[c] = sum[c] * factor + weight * tile_v[j][c];
            }
        }
        __syncthreads();
    }

    if (query < queries) {
        for (int c = 0; c < D; c++) {
            out[query * D + c] = sum[c] / l;
        }
    }
}

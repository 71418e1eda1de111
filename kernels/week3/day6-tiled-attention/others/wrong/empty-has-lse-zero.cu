// A query that sees nothing has an lse of 0.
// rejected for: wrong_output
// leads to: an lse of -INFINITY
#include "lab.cuh"

// out = softmax(q * k^T / sqrt(D)) * v for each head, and the log-sum-exp of each query's scores. A block does QUERIES queries of a
// head, one a thread, and goes through the keys in tiles of KEYS.
// lockstep: block = QUERIES
// lockstep: grid = ceil_div(queries, QUERIES), heads
#define D 64
#define QUERIES 64
#define KEYS 32

extern "C" __global__ void __launch_bounds__(QUERIES) tiled_attention(
    const float* q, const float* k, const float* v, float* out, float* lse, float* work,
    int heads, int key_heads, int queries, int keys, int causal)
{
    __shared__ float4 tile_k[KEYS][D / 4], tile_v[KEYS][D / 4];
    __shared__ float score[KEYS][QUERIES];  // a thread's own column
    const int head = blockIdx.y;
    const int key_head = head / (heads / key_heads);
    const int query = blockIdx.x * QUERIES + threadIdx.x;
    const float4* from_k = reinterpret_cast<const float4*>(k + (long long)key_head * keys * D);
    const float4* from_v = reinterpret_cast<const float4*>(v + (long long)key_head * keys * D);
    const long long row = (long long)head * queries + query;

    // How many keys this thread's query sees, and how many the block's last query does.
    const int last = min(blockIdx.x * QUERIES + QUERIES, queries) - 1;
    int seen = 0;
    if (query < queries) {
        seen = causal ? max(0, min(keys, query + 1 + keys - queries)) : keys;
    }
    const int end = causal ? max(0, min(keys, last + 1 + keys - queries)) : keys;

    float4 mine[D / 4], sum[D / 4];
    for (int c = 0; c < D / 4; c++) {
        mine[c] = sum[c] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (query < queries) {
            mine[c] = reinterpret_cast<const float4*>(q + row * D)[c];
        }
    }
    float m = -INFINITY, l = 0.0f;

    for (int first = 0; first < end; first += KEYS) {
        for (int i = threadIdx.x; i < KEYS * (D / 4); i += QUERIES) {
            const int key = first + i / (D / 4);
            const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            tile_k[i / (D / 4)][i % (D / 4)] = key < keys ? from_k[key * (D / 4) + i % (D / 4)] : zero;
            tile_v[i / (D / 4)][i % (D / 4)] = key < keys ? from_v[key * (D / 4) + i % (D / 4)] : zero;
        }
        __syncthreads();

        // The scores of the tile, and the largest so far.
        float most = m;
        for (int j = 0; j < KEYS; j++) {
            float dot = 0.0f;
            for (int c = 0; c < D / 4; c++) {
                const float4 key = tile_k[j][c];
                dot += mine[c].x * key.x + mine[c].y * key.y + mine[c].z * key.z + mine[c].w * key.w;
            }
            const float scaled = first + j < seen ? dot * rsqrtf(D) : -INFINITY;
            score[j][threadIdx.x] = scaled;
            most = fmaxf(most, scaled);
        }

        if (most > -INFINITY) {  // else this query has seen no key yet
            const float factor = expf(m - most);
            m = most;
            l *= factor;
            for (int c = 0; c < D / 4; c++) {
                sum[c].x *= factor;
                sum[c].y *= factor;
                sum[c].z *= factor;
                sum[c].w *= factor;
            }
            for (int j = 0; j < KEYS; j++) {
                const float weight = expf(score[j][threadIdx.x] - m);
                l += weight;
                for (int c = 0; c < D / 4; c++) {
                    const float4 value = tile_v[j][c];
                    sum[c].x += weight * value.x;
                    sum[c].y += weight * value.y;
                    sum[c].z += weight * value.z;
                    sum[c].w += weight * value.w;
                }
            }
        }
        __syncthreads();
    }

    if (query < queries) {
        const float scale = l > 0.0f ? 1.0f / l : 0.0f;  // a query that sees no key has zeros
        for (int c = 0; c < D / 4; c++) {
            reinterpret_cast<float4*>(out + row * D)[c] =
                make_float4(sum[c].x * scale, sum[c].y * scale, sum[c].z * scale, sum[c].w * scale);
        }
        lse[row] = l > 0.0f ? m + logf(l) : 0.0f;
    }
}

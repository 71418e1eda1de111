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
    // TODO 1: heads / key_heads query heads share a key head
    const int key_head = head;
    const int query = blockIdx.x * QUERIES + threadIdx.x;
    const float4* from_k = reinterpret_cast<const float4*>(k + (long long)key_head * keys * D);
    const float4* from_v = reinterpret_cast<const float4*>(v + (long long)key_head * keys * D);
    const long long row = (long long)head * queries + query;

    // How many keys this thread's query sees, and how many the block's last query does.
    const int last = min(blockIdx.x * QUERIES + QUERIES, queries) - 1;
    // TODO 2: fewer with a causal mask, 0 to keys
    const int seen = query < queries ? keys : 0;
    // TODO 2: the same for the block's last query
    const int end = last < 0 ? 0 : keys;

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
            // TODO 3: -INFINITY for a key that this query does not see
            const float scaled = dot * rsqrtf(D);
            score[j][threadIdx.x] = scaled;
            most = fmaxf(most, scaled);
        }

        if (most > -INFINITY) {  // else this query has seen no key yet
            // TODO 4: the factor that m, l and sum need for the new maximum; then for each key of the tile its weight, which is added
            // to l and, times tile_v[j], to sum. score[j][threadIdx.x] is this query's score.
        }
        __syncthreads();
    }

    if (query < queries) {
        // TODO 5: a query that sees no key shall have zeros
        const float scale = 1.0f / l;
        for (int c = 0; c < D / 4; c++) {
            reinterpret_cast<float4*>(out + row * D)[c] =
                make_float4(sum[c].x * scale, sum[c].y * scale, sum[c].z * scale, sum[c].w * scale);
        }
        lse[row] = m + logf(l);
    }
}

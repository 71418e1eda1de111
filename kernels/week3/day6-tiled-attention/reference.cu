#include "lab.cuh"

// 64 queries by 64 keys at a time, 128 threads, each with 8 queries of 4 columns: of the scores first, then of the output. q and k are
// transposed and swizzled in shared memory, so that a step along d loads three float4 for 32 multiply-adds. The weights go through
// the memory of the tile of k. Blocks with the most keys start first.
// lockstep: block = THREADS
// lockstep: grid = heads, ceil_div(queries, TILE)
#define D 64
#define TILE 64
#define THREADS 128

// Place of four neighboring columns of a row in a transposed tile. Neighboring groups of four rows use other banks.
__device__ int place(int row, int four)
{
    return row * TILE + ((four ^ (row / 4)) * 4);
}

// Rows `first` to first + 63 of `from`, transposed and multiplied with `scale`; zeros beyond `rows`.
__device__ void load_transposed(float* to, const float* from, int first, int rows, float scale)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int t = 0; t < 8; t++) {
        const int four = t % 2 * 8 + lane % 8;
        const int row = t / 2 * 16 + warp * 4 + lane / 8;
        float4 x = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (first + row < rows) {
            x = reinterpret_cast<const float4*>(from + (long long)(first + row) * D)[four];
        }
        to[place(4 * four, row / 4) + row % 4] = x.x * scale;
        to[place(4 * four + 1, row / 4) + row % 4] = x.y * scale;
        to[place(4 * four + 2, row / 4) + row % 4] = x.z * scale;
        to[place(4 * four + 3, row / 4) + row % 4] = x.w * scale;
    }
}

__device__ void multiply_add(float (&sums)[8][4], const float4 a0, const float4 a1, const float4 b)
{
    const float a[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w};
#pragma unroll
    for (int i = 0; i < 8; i++) {
        sums[i][0] += a[i] * b.x;
        sums[i][1] += a[i] * b.y;
        sums[i][2] += a[i] * b.z;
        sums[i][3] += a[i] * b.w;
    }
}

__device__ float4 four_of(const float* tile, int at)
{
    return *reinterpret_cast<const float4*>(tile + at);
}

extern "C" __global__ void __launch_bounds__(THREADS) tiled_attention(
    const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v, float* __restrict__ out,
    float* __restrict__ lse, float* work, int heads, int key_heads, int queries, int keys, int causal)
{
    __shared__ __align__(16) float tile_q[TILE * D], tile_k[TILE * D], tile_v[TILE * D];
    const int head = blockIdx.x;
    const int first_query = (gridDim.y - 1 - blockIdx.y) * TILE;
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const float* from_k = k + (long long)(head / (heads / key_heads)) * keys * D;
    const float* from_v = v + (long long)(head / (heads / key_heads)) * keys * D;
    const int ahead = keys - queries;  // query i sees keys 0 to i + ahead

    // Scores in units of log 2, so that exp2f serves.
    load_transposed(tile_q, q + (long long)head * queries * D, first_query, queries, 0.125f * 1.44269504f);

    float sum[8][4] = {}, m[8], l[8];
#pragma unroll
    for (int i = 0; i < 8; i++) {
        m[i] = -INFINITY;
        l[i] = 0.0f;
    }

    const int end = causal ? min(keys, min(first_query + TILE, queries) + ahead) : keys;
    for (int first = 0; first < end; first += TILE) {
        load_transposed(tile_k, from_k, first, keys, 1.0f);
#pragma unroll
        for (int t = 0; t < TILE * D / 4 / THREADS; t++) {
            const int i = threadIdx.x + t * THREADS;
            const bool in = first + i / (D / 4) < keys;
            reinterpret_cast<float4*>(tile_v)[i] = in ? reinterpret_cast<const float4*>(from_v + (long long)first * D)[i]
                                                      : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        }
        __syncthreads();

        float score[8][4] = {};
#pragma unroll 8
        for (int d = 0; d < D; d++) {
            multiply_add(
                score, four_of(tile_q, place(d, 2 * ty)), four_of(tile_q, place(d, 2 * ty + 1)),
                four_of(tile_k, place(d, tx)));
        }
        __syncthreads();  // the weights replace k

        const bool is_cut = first + TILE > keys || (causal && first + TILE - 1 > first_query + ahead);
#pragma unroll
        for (int i = 0; i < 8; i++) {
            const int query = first_query + 8 * ty + i;
            float most = m[i];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const int key = first + 4 * tx + j;
                if (is_cut && (key >= keys || (causal && key > query + ahead))) {
                    score[i][j] = -INFINITY;
                }
                most = fmaxf(most, score[i][j]);
            }
#pragma unroll
            for (int distance = 8; distance > 0; distance /= 2) {
                most = fmaxf(most, __shfl_xor_sync(FULL_MASK, most, distance));
            }
            // A query that has seen no key yet: exp2f(-INFINITY - 0) is 0, where -INFINITY - most would be NaN.
            const float base = most > -INFINITY ? most : 0.0f;
            const float factor = exp2f(m[i] - base);
            m[i] = most;
            l[i] *= factor;
#pragma unroll
            for (int j = 0; j < 4; j++) {
                score[i][j] = exp2f(score[i][j] - base);
                l[i] += score[i][j];
                sum[i][j] *= factor;
            }
        }
#pragma unroll
        for (int j = 0; j < 4; j++) {
            *reinterpret_cast<float4*>(tile_k + place(4 * tx + j, 2 * ty)) =
                make_float4(score[0][j], score[1][j], score[2][j], score[3][j]);
            *reinterpret_cast<float4*>(tile_k + place(4 * tx + j, 2 * ty + 1)) =
                make_float4(score[4][j], score[5][j], score[6][j], score[7][j]);
        }
        __syncthreads();

#pragma unroll 8
        for (int key = 0; key < TILE; key++) {
            multiply_add(
                sum, four_of(tile_k, place(key, 2 * ty)), four_of(tile_k, place(key, 2 * ty + 1)),
                four_of(tile_v, key * D + 4 * tx));
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < 8; i++) {
        // Each lane summed the weights of its own four keys.
#pragma unroll
        for (int distance = 8; distance > 0; distance /= 2) {
            l[i] += __shfl_xor_sync(FULL_MASK, l[i], distance);
        }
        const int query = first_query + 8 * ty + i;
        if (query < queries) {
            const float scale = l[i] > 0.0f ? 1.0f / l[i] : 0.0f;
            const long long row = (long long)head * queries + query;
            *reinterpret_cast<float4*>(out + row * D + 4 * tx) =
                make_float4(sum[i][0] * scale, sum[i][1] * scale, sum[i][2] * scale, sum[i][3] * scale);
            if (tx == 0) {
                lse[row] = m[i] * 0.693147181f + logf(l[i]);
            }
        }
    }
}

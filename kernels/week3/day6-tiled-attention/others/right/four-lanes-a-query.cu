// Four lanes share a query, each with 16 of its 64 elements, one key at a time.
#include "lab.cuh"
// lockstep: block = 4, 64
// lockstep: grid = heads, ceil_div(queries, 64)
struct Pair { float m, l; };
template <int N> __device__ __forceinline__ float quad_sum(float x)
{
#pragma unroll
    for (int o = 1; o < N; o *= 2) x += __shfl_xor_sync(0xffffffffu, x, o);
    return x;
}
extern "C" __global__ void __launch_bounds__(256) tiled_attention(
    const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v, float* __restrict__ out, float* __restrict__ lse, float* work,
    const int heads, const int key_heads, const int queries, const int keys, const int causal)
{
    __shared__ float tk[16][64], tv[16][64];
    const int head = blockIdx.x, kh = head * key_heads / heads;
    const int query = blockIdx.y * 64 + threadIdx.y, part = threadIdx.x, t = threadIdx.y * 4 + threadIdx.x;
    const int past = keys - queries;
    const int last = min((int)blockIdx.y * 64 + 63, queries - 1);
    const int stop = causal ? min(keys, last + past + 1) : keys;
    float mine[16], o[16];
    for (int i = 0; i < 16; i++) {
        mine[i] = query < queries ? q[((size_t)head * queries + query) * 64 + part + 4 * i] * 0.125f : 0.0f;
        o[i] = 0.0f;
    }
    Pair p = {-INFINITY, 0.0f};
    for (int base = 0; base < stop; base += 16) {
        __syncthreads();
        for (int e = t; e < 16 * 64; e += 256) {
            const int key = base + e / 64;
            tk[e / 64][e % 64] = key < keys ? k[((size_t)kh * keys + key) * 64 + e % 64] : 0.0f;
            tv[e / 64][e % 64] = key < keys ? v[((size_t)kh * keys + key) * 64 + e % 64] : 0.0f;
        }
        __syncthreads();
        for (int j = 0; j < 16; j++) {
            float s = 0;
            for (int i = 0; i < 16; i++) s = fmaf(mine[i], tk[j][part + 4 * i], s);
            s = quad_sum<4>(s);
            if (base + j >= keys || (causal && base + j > query + past)) continue;
            if (s > p.m) {
                const float f = expf(p.m - s);
                p.l *= f;
                for (int i = 0; i < 16; i++) o[i] *= f;
                p.m = s;
            }
            const float w = expf(s - p.m);
            p.l += w;
            for (int i = 0; i < 16; i++) o[i] += w * tv[j][part + 4 * i];
        }
    }
    if (query >= queries) return;
    for (int i = 0; i < 16; i++) out[((size_t)head * queries + query) * 64 + part + 4 * i] = p.l == 0.0f ? 0.0f : o[i] / p.l;
    if (part == 0) lse[(size_t)head * queries + query] = p.l == 0.0f ? -INFINITY : p.m + logf(p.l);
}

// A warp a query: maximum and sum first, then every score once more.
// does not reach: Keys in tiles
#include "lab.cuh"
// lockstep: block = 128
// lockstep: grid = ceil_div(queries, 4), heads
// A warp for each query: the maximum and the sum in a first pass over the keys, the output in a second one.
extern "C" __global__ void tiled_attention(const float* q, const float* k, const float* v, float* out, float* lse, float* work, int heads, int key_heads, int queries, int keys, int causal)
{
    const int lane = threadIdx.x & 31, query = blockIdx.x * 4 + threadIdx.x / 32, head = blockIdx.y;
    if (query >= queries) return;
    const size_t row = (size_t)head * queries + query;
    const int group = heads / key_heads;
    const float* kk = k + (size_t)(head / group) * keys * 64;
    const float* vv = v + (size_t)(head / group) * keys * 64;
    int seen = causal ? query + 1 + keys - queries : keys;
    seen = seen < 0 ? 0 : seen;
    float m = -INFINITY, l = 0;
    for (int key = lane; key < seen; key += 32) {
        float s = 0;
        for (int c = 0; c < 64; c++) s += q[row * 64 + c] * kk[(size_t)key * 64 + c];
        s *= 0.125f;
        const float n = fmaxf(m, s);
        l = l * expf(m - n) + expf(s - n);
        m = n;
    }
    float most = m;
    for (int o = 16; o; o /= 2) most = fmaxf(most, __shfl_xor_sync(FULL_MASK, most, o));
    l = l > 0 ? l * expf(m - most) : 0.0f;
    for (int o = 16; o; o /= 2) l += __shfl_xor_sync(FULL_MASK, l, o);
    float a = 0, b = 0;
    const float total = most + logf(l);
    for (int key = 0; key < seen; key++) {
        float s = q[row * 64 + lane] * kk[(size_t)key * 64 + lane] + q[row * 64 + lane + 32] * kk[(size_t)key * 64 + lane + 32];
        for (int o = 16; o; o /= 2) s += __shfl_xor_sync(FULL_MASK, s, o);
        const float p = expf(s * 0.125f - total);
        a += p * vv[(size_t)key * 64 + lane];
        b += p * vv[(size_t)key * 64 + lane + 32];
    }
    out[row * 64 + lane] = a;
    out[row * 64 + lane + 32] = b;
    if (lane == 0) lse[row] = total;
}

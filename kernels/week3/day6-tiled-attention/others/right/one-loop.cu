// No tile: each thread streams the keys from global memory.
// does not reach: Keys in tiles
// does not reach: Skipped tiles
// does not reach: Register tile
#include "lab.cuh"
// lockstep: block = 128
// lockstep: grid = ceil_div(queries, 128), heads
extern "C" __global__ void tiled_attention(const float* Q, const float* K, const float* V, float* O, float* lse, float*, int H, int HK, int N, int M, int causal)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, h = blockIdx.y;
    if (i >= N) return;
    const float* kp = K + (size_t)(h * HK / H) * M * 64;
    const float* vp = V + (size_t)(h * HK / H) * M * 64;
    float q[64], o[64] = {};
    for (int c = 0; c < 64; ++c) q[c] = Q[((size_t)h * N + i) * 64 + c] * 0.125f;
    float m = -INFINITY, l = 0;
    for (int j = 0; j < M; ++j) {
        if (causal && j - (M - N) > i) break;
        float s = 0;
        for (int c = 0; c < 64; ++c) s += q[c] * kp[j * 64 + c];
        if (s > m) {
            float f = __expf(m - s);
            l *= f;
            for (int c = 0; c < 64; ++c) o[c] *= f;
            m = s;
        }
        float w = __expf(s - m);
        l += w;
        for (int c = 0; c < 64; ++c) o[c] += w * vp[j * 64 + c];
    }
    float r = l == 0 ? 0 : 1 / l;
    for (int c = 0; c < 64; ++c) O[((size_t)h * N + i) * 64 + c] = o[c] * r;
    lse[h * N + i] = m + __logf(l);
}

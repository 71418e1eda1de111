// A lane for each key of a tile, then two columns of the output for each lane.
// does not reach: Skipped tiles
// does not reach: Register tile
#include "lab.cuh"
// lockstep: block = 32, 8
// lockstep: grid = ceil_div(queries, 8), heads
__device__ float warp_max(float x) { for (int d = 16; d; d >>= 1) x = fmaxf(x, __shfl_xor_sync(~0u, x, d)); return x; }
__device__ float warp_sum(float x) { for (int d = 16; d; d >>= 1) x += __shfl_xor_sync(~0u, x, d); return x; }

extern "C" __global__ void tiled_attention(const float* q, const float* k, const float* v, float* out, float* lse, float* work,
                                           int heads, int key_heads, int nq, int nk, int causal)
{
    __shared__ float ks[32][65], vs[32][64], qs[8][64];
    const int lane = threadIdx.x, w = threadIdx.y, h = blockIdx.y, qi = blockIdx.x * 8 + w;
    const float* kh = k + (size_t)(h / (heads / key_heads)) * nk * 64;
    const float* vh = v + (size_t)(h / (heads / key_heads)) * nk * 64;
    for (int c = lane; c < 64; c += 32) qs[w][c] = qi < nq ? q[((size_t)h * nq + qi) * 64 + c] * 0.125f : 0.0f;
    const int lim = causal ? qi + 1 + nk - nq : nk;
    const int blk = causal ? min(nk, min(nq, (int)blockIdx.x * 8 + 8) + nk - nq) : nk;
    float m = -INFINITY, l = 0, o0 = 0, o1 = 0;
    for (int t = 0; t < blk; t += 32) {
        __syncthreads();
        for (int i = w * 32 + lane; i < 2048; i += 256) {
            int r = i >> 6, c = i & 63;
            ks[r][c] = t + r < nk ? kh[(size_t)(t + r) * 64 + c] : 0;
            vs[r][c] = t + r < nk ? vh[(size_t)(t + r) * 64 + c] : 0;
        }
        __syncthreads();
        float s = 0;
        for (int c = 0; c < 64; ++c) s += qs[w][c] * ks[lane][c];
        if (t + lane >= min(lim, nk)) s = -INFINITY;
        const float top = fmaxf(m, warp_max(s));
        if (top == -INFINITY) continue;  // the same for the whole warp
        const float p = __expf(s - top), f = __expf(m - top);
        m = top;
        l = l * f + warp_sum(p);
        o0 *= f;
        o1 *= f;
        for (int j = 0; j < 32; ++j) {
            const float pj = __shfl_sync(~0u, p, j);
            o0 += pj * vs[j][lane];
            o1 += pj * vs[j][lane + 32];
        }
    }
    if (qi < nq) {
        const size_t r = (size_t)h * nq + qi;
        out[r * 64 + lane] = l > 0 ? o0 / l : 0.0f;
        out[r * 64 + lane + 32] = l > 0 ? o1 / l : 0.0f;
        if (lane == 0) lse[r] = l > 0 ? m + __logf(l) : -INFINITY;
    }
}

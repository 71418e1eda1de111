// One thread a query, with everything in registers and local memory. No tensor core.
// does not reach: On tensor cores
#include "lab.cuh"
#include <cuda_bf16.h>

// lockstep: block = 64
// lockstep: grid = ceil_div(queries, 64) * batch * heads
extern "C" __global__ void flash_attention(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v, __nv_bfloat16* out, float* lse,
                                           int batch, int heads, int key_heads, int queries, int keys, int d, int causal)
{
    const int blocks = ceil_div(queries, 64), head = blockIdx.x / blocks, row = blockIdx.x % blocks * 64 + threadIdx.x;
    if (row >= queries) {
        return;
    }
    const int key_head = head / heads * key_heads + head % heads / (heads / key_heads);
    const long long line = (long long)head * queries + row;
    const int end = causal ? min(keys, row + 1 + keys - queries) : keys;
    float o[128], most = -INFINITY, sum = 0.0f;
    for (int i = 0; i < d; i++) {
        o[i] = 0.0f;
    }
    for (int key = 0; key < end; key++) {
        const long long at = ((long long)key_head * keys + key) * d;
        float score = 0.0f;
        for (int i = 0; i < d; i++) {
            score += __bfloat162float(q[line * d + i]) * __bfloat162float(k[at + i]);
        }
        score *= rsqrtf((float)d);
        const float now = fmaxf(most, score), factor = expf(most - now), weight = expf(score - now);
        most = now;
        sum = sum * factor + weight;
        for (int i = 0; i < d; i++) {
            o[i] = o[i] * factor + weight * __bfloat162float(v[at + i]);
        }
    }
    for (int i = 0; i < d; i++) {
        out[line * d + i] = __float2bfloat16(sum > 0.0f ? o[i] / sum : 0.0f);
    }
    lse[line] = sum > 0.0f ? most + logf(sum) : -INFINITY;
}

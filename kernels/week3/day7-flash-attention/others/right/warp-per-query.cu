// One warp a query, shuffles for every key.
// does not reach: On tensor cores
// lockstep: block = 32 * WARPS
// lockstep: grid = ceil_div(queries, WARPS) * batch * heads
#include "lab.cuh"
#include <cuda_bf16.h>

#define WARPS 8
#define EACH 4

extern "C" __global__ void __launch_bounds__(32 * WARPS)
flash_attention(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v, __nv_bfloat16* out, float* lse, int batch, int heads,
          int key_heads, int queries, int keys, int d, int causal)
{
    int blocks = ceil_div(queries, WARPS), matrix = blockIdx.x / blocks;
    int row = blockIdx.x % blocks * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= queries) return;
    int key_matrix = matrix / heads * key_heads + matrix % heads / (heads / key_heads);
    int64_t line = static_cast<int64_t>(matrix) * queries + row;
    k += static_cast<int64_t>(key_matrix) * keys * d;
    v += static_cast<int64_t>(key_matrix) * keys * d;
    float query[EACH], sum[EACH] = {}, most = -INFINITY, total = 0.0f;
for (int i = 0; i < d / 32; ++i) query[i] = __bfloat162float(q[line * d + i * 32 + lane]) * rsqrtf(static_cast<float>(d));
    int last = causal ? least(keys, row + 1 + keys - queries) : keys;
    for (int key = 0; key < last; ++key) {
        float score = 0.0f;
#pragma unroll
        for (int i = 0; i < d / 32; ++i) score += query[i] * __bfloat162float(k[static_cast<int64_t>(key) * d + i * 32 + lane]);
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) score += __shfl_xor_sync(FULL_MASK, score, distance);
        float greater = fmaxf(most, score), factor = __expf(most - greater), weight = __expf(score - greater);
        most = greater;
        total = total * factor + weight;
#pragma unroll
        for (int i = 0; i < d / 32; ++i)
            sum[i] = sum[i] * factor + weight * __bfloat162float(v[static_cast<int64_t>(key) * d + i * 32 + lane]);
    }
    float share = total > 0.0f ? 1.0f / total : 0.0f;
for (int i = 0; i < d / 32; ++i) out[line * d + i * 32 + lane] = __float2bfloat16(sum[i] * share);
    if (lane == 0) lse[line] = total > 0.0f ? most + __logf(total) : -INFINITY;
}

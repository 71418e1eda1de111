// Sixteen bytes at a time: eight weights.
// lockstep: grid = ceil_div(n, 8 * block_x)
#include <cuda_bf16.h>
extern "C" __global__ void gradient_step(const __nv_bfloat16* gradient, __nv_bfloat16* weights, float alpha, int n) {
    int first = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (first + 8 <= n) {
        uint4 gs = *(const uint4*)(gradient + first), ws = *(const uint4*)(weights + first);
        const __nv_bfloat162* g = (const __nv_bfloat162*)&gs;
        __nv_bfloat162* w = (__nv_bfloat162*)&ws;
        for (int k = 0; k < 4; k++) {
            float2 a = __bfloat1622float2(w[k]), b = __bfloat1622float2(g[k]);
            w[k] = __floats2bfloat162_rn(a.x + alpha * b.x, a.y + alpha * b.y);
        }
        *(uint4*)(weights + first) = ws;
    } else {
        for (int i = first; i < n; i++) weights[i] = __float2bfloat16(__bfloat162float(weights[i]) + alpha * __bfloat162float(gradient[i]));
    }
}

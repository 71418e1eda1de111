// Two bf16 values are one 4-byte word, so a thread loads, updates and stores two at a time. The sum is made in f32 and
// rounded once. With an odd n the last element is left for the last thread.
//@ kernel
#include <cuda_bf16.h>

extern "C" __global__ void gradient_step(const __nv_bfloat16* gradient, __nv_bfloat16* weights, float alpha, int n) {
    int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * pair + 1 < n) {
        float2 g = __bfloat1622float2(((const __nv_bfloat162*)gradient)[pair]);
        float2 w = __bfloat1622float2(((__nv_bfloat162*)weights)[pair]);
        ((__nv_bfloat162*)weights)[pair] = __floats2bfloat162_rn(w.x - alpha * g.x, w.y - alpha * g.y);
    } else if (2 * pair < n) {
        float g = __bfloat162float(gradient[2 * pair]), w = __bfloat162float(weights[2 * pair]);
        weights[2 * pair] = __float2bfloat16_rn(w - alpha * g);
    }
}
//@ end

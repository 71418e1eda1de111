// Takes the two gradients of a pair in the other order.
// rejected for: wrong_output
// leads to: first wrong weight
#include <cuda_bf16.h>
extern "C" __global__ void gradient_step(const __nv_bfloat16* gradient, __nv_bfloat16* weights, float alpha, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * i + 1 < n) {
        float2 w = __bfloat1622float2(((__nv_bfloat162*)weights)[i]), g = __bfloat1622float2(((const __nv_bfloat162*)gradient)[i]);
        ((__nv_bfloat162*)weights)[i] = __floats2bfloat162_rn(w.x + alpha * g.y, w.y + alpha * g.x);
    } else if (2 * i < n) {
        weights[2 * i] = __float2bfloat16(__bfloat162float(weights[2 * i]) + alpha * __bfloat162float(gradient[2 * i]));
    }
}

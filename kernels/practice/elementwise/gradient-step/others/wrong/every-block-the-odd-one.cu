// The odd weight at the end is moved once by each block.
// rejected for: race
// leads to: same weight
#include <cuda_bf16.h>
extern "C" __global__ void gradient_step(const __nv_bfloat16* gradient, __nv_bfloat16* weights, float alpha, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 2) {
        float2 w = __bfloat1622float2(((__nv_bfloat162*)weights)[i]), g = __bfloat1622float2(((const __nv_bfloat162*)gradient)[i]);
        ((__nv_bfloat162*)weights)[i] = __floats2bfloat162_rn(w.x + alpha * g.x, w.y + alpha * g.y);
    }
    if (threadIdx.x == 0 && n % 2) weights[n - 1] = __float2bfloat16(__bfloat162float(weights[n - 1]) + alpha * __bfloat162float(gradient[n - 1]));
}

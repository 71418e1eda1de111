// Leaves the last weight of an odd n as it was.
// rejected for: wrong_output
// leads to: no partner
#include <cuda_bf16.h>
extern "C" __global__ void gradient_step(const __nv_bfloat16* gradient, __nv_bfloat16* weights, float alpha, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 2) {
        float2 w = __bfloat1622float2(((__nv_bfloat162*)weights)[i]), g = __bfloat1622float2(((const __nv_bfloat162*)gradient)[i]);
        ((__nv_bfloat162*)weights)[i] = __floats2bfloat162_rn(w.x + alpha * g.x, w.y + alpha * g.y);
    }
}

// Takes the upper half of the float: cuts off where it should round.
// rejected for: precision
// leads to: round
// lockstep: grid = ceil_div(n, block_x)
#include <cuda_bf16.h>
extern "C" __global__ void gradient_step(const __nv_bfloat16* gradient, __nv_bfloat16* weights, float alpha, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float w = __bfloat162float(weights[i]) + alpha * __bfloat162float(gradient[i]);
    ((unsigned short*)weights)[i] = __float_as_uint(w) >> 16;
}

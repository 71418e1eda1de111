// Adds the whole gradient.
// rejected for: wrong_output
// leads to: w + alpha * g
// lockstep: grid = ceil_div(n, block_x)
#include <cuda_bf16.h>
extern "C" __global__ void gradient_step(const __nv_bfloat16* gradient, __nv_bfloat16* weights, float alpha, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) weights[i] = __float2bfloat16(__bfloat162float(weights[i]) + __bfloat162float(gradient[i]));
}

// Writes the new weight over the gradient.
// rejected for: input_changed
// leads to: gradient
// lockstep: grid = ceil_div(n, block_x)
#include <cuda_bf16.h>
extern "C" __global__ void gradient_step(__nv_bfloat16* gradient, __nv_bfloat16* weights, float alpha, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) gradient[i] = weights[i] = __float2bfloat16(__bfloat162float(weights[i]) + alpha * __bfloat162float(gradient[i]));
}

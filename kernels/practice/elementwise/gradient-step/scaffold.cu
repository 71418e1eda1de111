#include <cuda_bf16.h>

// TODO: weights[i] becomes weights[i] + alpha * gradient[i], computed in float. So far the weights stay as they are.
extern "C" __global__ void gradient_step(const __nv_bfloat16* gradient, __nv_bfloat16* weights, float alpha, int n) {
    int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * pair < n) weights[2 * pair] = __float2bfloat16_rn(__bfloat162float(weights[2 * pair]));
}

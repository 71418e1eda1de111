#include <cuda_bf16.h>

// lockstep: grid = ceil_div(n, block_x)
extern "C" __global__ void gradient_step(const __nv_bfloat16* gradient, __nv_bfloat16* weights, float alpha, int n) {
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = first; i < min(n, first + 2); i++)
        weights[i] = __float2bfloat16_rn(__bfloat162float(weights[i]) + alpha * __bfloat162float(gradient[i]));
}

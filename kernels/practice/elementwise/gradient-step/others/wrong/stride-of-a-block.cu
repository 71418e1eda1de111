// The loop moves on by a block and not by a grid: later blocks' weights move again.
// rejected for: race
// leads to: Which ones
#include <cuda_bf16.h>
extern "C" __global__ void gradient_step(const __nv_bfloat16* gradient, __nv_bfloat16* weights, float alpha, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x)
        weights[i] = __float2bfloat16(__bfloat162float(weights[i]) + alpha * __bfloat162float(gradient[i]));
}

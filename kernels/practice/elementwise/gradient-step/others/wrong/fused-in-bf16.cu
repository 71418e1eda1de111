// One fused operation, so one rounding, but alpha was rounded before.
// rejected for: precision
// leads to: alpha is a float
// lockstep: grid = ceil_div(n, block_x)
#include <cuda_bf16.h>
extern "C" __global__ void gradient_step(const __nv_bfloat16* gradient, __nv_bfloat16* weights, float alpha, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) weights[i] = __hfma(__float2bfloat16(alpha), gradient[i], weights[i]);
}

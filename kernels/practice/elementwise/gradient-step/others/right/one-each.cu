// One value a thread: 2 bytes with each load.
// does not reach: Two with each load
// lockstep: grid = ceil_div(n, block_x)
#include <cuda_bf16.h>
extern "C" __global__ void gradient_step(const __nv_bfloat16* gradient, __nv_bfloat16* weights, float alpha, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) weights[i] = __float2bfloat16_rn(__bfloat162float(weights[i]) + alpha * __bfloat162float(gradient[i]));
}

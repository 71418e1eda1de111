// Where n is a multiple of eight it loads eight at once and moves four of them.
// rejected for: wrong_output
// leads to: old one
#include <cuda_bf16.h>
extern "C" __global__ void gradient_step(const __nv_bfloat16* gradient, __nv_bfloat16* weights, float alpha, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, first = n % 8 ? 2 * i : 8 * i, each = n % 8 ? 2 : 4;
    for (int k = first; k < min(n, first + each); k++)
        weights[k] = __float2bfloat16(__bfloat162float(weights[k]) + alpha * __bfloat162float(gradient[k]));
}

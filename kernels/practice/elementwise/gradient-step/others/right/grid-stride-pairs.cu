// Every thread takes each gridful-th pair; the last thread that passes takes an odd end.
// lockstep: grid = 8
#include <cuda_bf16.h>
extern "C" __global__ void gradient_step(const __nv_bfloat16* gradient, __nv_bfloat16* weights, float alpha, int n) {
    const __nv_bfloat162* g2 = reinterpret_cast<const __nv_bfloat162*>(gradient);
    __nv_bfloat162* w2 = reinterpret_cast<__nv_bfloat162*>(weights);
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = tid; i < n / 2; i += gridDim.x * blockDim.x) {
        float2 w = __bfloat1622float2(w2[i]), g = __bfloat1622float2(g2[i]);
        w.x = fmaf(alpha, g.x, w.x);
        w.y = fmaf(alpha, g.y, w.y);
        w2[i] = __float22bfloat162_rn(w);
    }
    if (tid == 0 && n % 2) weights[n - 1] = __float2bfloat16(__bfloat162float(weights[n - 1]) + alpha * __bfloat162float(gradient[n - 1]));
}

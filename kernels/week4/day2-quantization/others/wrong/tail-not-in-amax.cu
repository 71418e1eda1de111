// The rest is not looked at for the maximum.
// rejected for: wrong_output
// leads to: all elements
#include "lab.cuh"
#include <cuda_fp16.h>

// lockstep: find_amax.block = 256
// lockstep: find_amax.grid = min(ceil_div(n, 2048), 1024)
// lockstep: quantize.block = 256
// lockstep: quantize.grid = ceil_div(n, 8 * block_x)
extern "C" __global__ void find_amax(const __half* x, unsigned* amax, int n)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    __half2 most = __float2half2_rn(0.0f);
    for (int v = t; v < n / 8; v += threads) {
        const uint4 in = reinterpret_cast<const uint4*>(x)[v];
        const __half2* h = reinterpret_cast<const __half2*>(&in);
        for (int k = 0; k < 4; k++) most = __hmax2(most, __habs2(h[k]));
    }
    float one = fmaxf(__low2float(most), __high2float(most));
    for (int d = 16; d; d >>= 1) one = fmaxf(one, __shfl_down_sync(0xffffffff, one, d));
    if (threadIdx.x % 32 == 0) atomicMax(amax, __float_as_uint(one));
}
extern "C" __global__ void quantize(const __half* x, const unsigned* amax, signed char* codes, float* scale, int n)
{
    const float s = __uint_as_float(amax[0]) / 127.0f, d = s == 0 ? 1.0f : s;
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t == 0) scale[0] = s;
    if (t < n / 8) {
        const uint4 in = reinterpret_cast<const uint4*>(x)[t];
        const __half2* h = reinterpret_cast<const __half2*>(&in);
        unsigned out[2] = {0, 0};
        for (int k = 0; k < 4; k++) {
            const float2 v = __half22float2(h[k]);
            out[k / 2] |= ((unsigned)__float2int_rn(v.x / d) & 255) << (k % 2 * 16);
            out[k / 2] |= ((unsigned)__float2int_rn(v.y / d) & 255) << (k % 2 * 16 + 8);
        }
        reinterpret_cast<uint2*>(codes)[t] = make_uint2(out[0], out[1]);
    }
    if (t < n % 8) codes[n / 8 * 8 + t] = __float2int_rn(__half2float(x[n / 8 * 8 + t]) / d);
}

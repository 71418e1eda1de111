// Four elements a thread, the words put together with prmt.
// does not reach: Sixteen bytes a load
#include "lab.cuh"
#include <cuda_fp16.h>
// lockstep: find_amax.block = 128
// lockstep: find_amax.grid = min(ceil_div(n, 1024), 512)
// lockstep: quantize.block = 128
// lockstep: quantize.grid = ceil_div(n, 512)
__device__ float4 load4(const __half* x, int k)
{
    uint2 w = reinterpret_cast<const uint2*>(x)[k];
    float2 a = __half22float2(*reinterpret_cast<__half2*>(&w.x)), b = __half22float2(*reinterpret_cast<__half2*>(&w.y));
    return make_float4(a.x, a.y, b.x, b.y);
}
extern "C" __global__ void find_amax(const __half* x, unsigned* amax, int n)
{
    float m = 0.0f;
    int t = blockIdx.x * 128 + threadIdx.x;
    for (int k = t; k < n / 4; k += 128 * gridDim.x) {
        float4 v = load4(x, k);
        m = fmaxf(fmaxf(m, fmaxf(fabsf(v.x), fabsf(v.y))), fmaxf(fabsf(v.z), fabsf(v.w)));
    }
    if (t < n % 4) m = fmaxf(m, fabsf(__half2float(x[n - 1 - t])));
    unsigned bits = __float_as_uint(m);
    for (int d = 16; d; d >>= 1) bits = max(bits, __shfl_down_sync(FULL_MASK, bits, d));
    if (threadIdx.x % 32 == 0) atomicMax(amax, bits);
}
extern "C" __global__ void quantize(const __half* x, const unsigned* amax, signed char* codes, float* scale, int n)
{
    float s = __uint_as_float(*amax) / 127.0f, d = s == 0.0f ? 1.0f : s;
    int t = blockIdx.x * 128 + threadIdx.x;
    if (t == 0) *scale = s;
    if (4 * t + 3 < n) {
        float4 v = load4(x, t);
        unsigned ab = __byte_perm(__float2int_rn(v.x / d), __float2int_rn(v.y / d), 0x0040);
        unsigned cd = __byte_perm(__float2int_rn(v.z / d), __float2int_rn(v.w / d), 0x0040);
        reinterpret_cast<unsigned*>(codes)[t] = __byte_perm(ab, cd, 0x5410);
    } else {
        for (int i = 4 * t; i < n; i++) codes[i] = __float2int_rn(__half2float(x[i]) / d);
    }
}

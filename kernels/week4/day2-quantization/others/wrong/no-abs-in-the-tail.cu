// No magnitude in the loop over what is left.
// rejected for: wrong_output
// leads to: magnitude
#include "lab.cuh"
#include <cuda_fp16.h>

// lockstep: find_amax.block = 256
// lockstep: find_amax.grid = min(ceil_div(n, 2048), 1024)
// lockstep: quantize.block = 128
// lockstep: quantize.grid = ceil_div(n, 1024)
union Eight { uint4 raw; __half2 pair[4]; __half one[8]; };
extern "C" __global__ void find_amax(const __half* x, unsigned* amax, int n)
{
    __half2 m = __float2half2_rn(0.0f);
    const int threads = gridDim.x * blockDim.x, me = blockIdx.x * blockDim.x + threadIdx.x;
    for (int p = me; p < n / 8; p += threads) {
        Eight e;
        e.raw = __ldg(reinterpret_cast<const uint4*>(x) + p);
        m = __hmax2(m, __hmax2(__hmax2(__habs2(e.pair[0]), __habs2(e.pair[1])), __hmax2(__habs2(e.pair[2]), __habs2(e.pair[3]))));
    }
    float f = fmaxf(__low2float(m), __high2float(m));
    for (int i = n / 8 * 8 + me; i < n; i += threads) f = fmaxf(f, __half2float(x[i]));
    for (int d = 1; d < 32; d *= 2) f = fmaxf(f, __shfl_xor_sync(FULL_MASK, f, d));
    if (threadIdx.x % 32 == 0) atomicMax(amax, __float_as_uint(f));
}
__device__ int code(__half v, float s) { return s > 0.0f ? max(-127, min(127, __float2int_rn(__half2float(v) / s))) : 0; }
extern "C" __global__ void quantize(const __half* x, const unsigned* amax, signed char* codes, float* scale, int n)
{
    const float s = __uint_as_float(__ldg(amax)) / 127.0f;
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p == 0) scale[0] = s;
    if (8 * p + 8 <= n) {
        Eight e;
        e.raw = reinterpret_cast<const uint4*>(x)[p];
        uint2 out = {0, 0};
        for (int j = 0; j < 4; j++) {
            out.x |= (unsigned)(code(e.one[j], s) & 255) << 8 * j;
            out.y |= (unsigned)(code(e.one[4 + j], s) & 255) << 8 * j;
        }
        reinterpret_cast<uint2*>(codes)[p] = out;
    } else {
        for (int i = 8 * p; i < n; i++) codes[i] = (signed char)code(x[i], s);
    }
}

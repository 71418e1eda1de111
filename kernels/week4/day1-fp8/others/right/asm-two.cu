// The instruction of the hardware, one element of a pair at a time, and a shift for older chips.
#include "lab.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
// lockstep: block = 512
// lockstep: grid = ceil_div(rows * columns, 512)
__device__ unsigned short pair(float high, float low) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
    unsigned short r;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(high), "f"(low));
    return r;
#else
    auto one = [](float v) -> unsigned {
        unsigned b = __float_as_uint(v), m = b << 1 >> 1, s = b >> 24 & 0x80u;
        if (m > 0x7f800000u) return 0x7f;
        if (m >= 0x43e80000u) return s | 0x7e;
        if (m < 0x3c800000u) return s | __float2uint_rn(__uint_as_float(m) * 512.0f);
        m -= 120u << 23; m += 0x7ffffu + (m >> 20 & 1u); return s | m >> 20;
    };
    return (unsigned short)(one(high) << 8 | one(low));
#endif
}
extern "C" __global__ void to_e4m3(const __half* x, const __nv_bfloat16* scale, unsigned char* codes, int rows, int columns)
{
    const unsigned i = blockIdx.x * 512u + threadIdx.x, all = (unsigned)rows * columns;
    if (i >= all) return;
    codes[i] = pair(0.0f, __half2float(__ldg(x + i)) / __bfloat162float(__ldg(scale + i / columns))) & 0xffu;
}

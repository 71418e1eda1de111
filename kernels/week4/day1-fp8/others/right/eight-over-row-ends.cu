// Eight elements a thread over the whole array: a row may end among them.
#include "lab.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
// lockstep: block = 256
// lockstep: grid = ceil_div(rows * columns, 8 * block_x)
extern "C" __global__ void to_e4m3(const __half* __restrict__ x, const __nv_bfloat16* __restrict__ scale, unsigned char* __restrict__ codes, int rows, int columns)
{
    const size_t n = (size_t)rows * columns;
    const size_t first = 8 * (blockIdx.x * (size_t)blockDim.x + threadIdx.x);
    if (first + 8 <= n) {
        // The eight may be of two rows: each has its own scale.
        const uint4 in = *reinterpret_cast<const uint4*>(x + first);
        const __half* h = reinterpret_cast<const __half*>(&in);
        union { unsigned char b[8]; uint2 v; } out;
        size_t row = first / columns;
        int left = columns - (int)(first % columns);
        float s = __bfloat162float(scale[row]);
        #pragma unroll
        for (int k = 0; k < 8; k++) {
            if (left == 0) { row++; left = columns; s = __bfloat162float(scale[row]); }
            left--;
            out.b[k] = __nv_cvt_float_to_fp8(__half2float(h[k]) / s, __NV_SATFINITE, __NV_E4M3);
        }
        *reinterpret_cast<uint2*>(codes + first) = out.v;
    } else {
        for (size_t i = first; i < n; i++) codes[i] = __nv_cvt_float_to_fp8(__half2float(x[i]) / __bfloat162float(scale[i / columns]), __NV_SATFINITE, __NV_E4M3);
    }
}

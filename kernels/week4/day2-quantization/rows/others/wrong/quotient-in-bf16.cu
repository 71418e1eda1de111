// Divides in bf16.
// rejected for: wrong_output
// leads to: in float
#include "lab.cuh"
#include <cuda_bf16.h>
#include <cuda_fp8.h>

// lockstep: block = 32, 8
// lockstep: grid = ceil_div(rows, block_y)
template <typename T>
__device__ T warp_max(T v)
{
    #pragma unroll
    for (int d = 16; d > 0; d /= 2) v = max(v, __shfl_xor_sync(0xffffffffu, v, d));
    return v;
}
extern "C" __global__ void quantize_rows(const __nv_bfloat16* __restrict__ x, unsigned char* __restrict__ codes, float* __restrict__ scale, int rows, int columns)
{
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    const __nv_bfloat16* from = x + (size_t)row * columns;
    float most = 0.0f;
    for (int c = threadIdx.x; c < columns; c += 32) most = fmaxf(most, fabsf(__bfloat162float(from[c])));
    most = warp_max(most);
    const float s = most / 448.0f;
    if (threadIdx.x == 0) scale[row] = s;
    for (int c = threadIdx.x; c < columns; c += 32)
        codes[(size_t)row * columns + c] = s == 0.0f ? 0 : __nv_cvt_float_to_fp8(__bfloat162float(from[c] / __float2bfloat16(s)), __NV_SATFINITE, __NV_E4M3);
}

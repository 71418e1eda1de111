// A warp a row, eight rows a block.
// does not reach: Read once
// does not reach: Sixteen bytes a load
#include "lab.cuh"
#include <cuda_bf16.h>
#include <cuda_fp8.h>
// lockstep: block = 32, 8
// lockstep: grid = ceil_div(rows, 8)
extern "C" __global__ void quantize_rows(const __nv_bfloat16* x, unsigned char* codes, float* scale, int rows, int columns)
{
    const int row = blockIdx.x * 8 + threadIdx.y, lane = threadIdx.x;
    if (row >= rows) return;
    x += (size_t)row * columns;
    codes += (size_t)row * columns;
    float m = 0.0f;
    for (int i = lane; i < columns; i += 32) m = fmaxf(m, fabsf(__bfloat162float(x[i])));
    for (int d = 1; d < 32; d *= 2) m = fmaxf(m, __shfl_xor_sync(FULL_MASK, m, d));
    const float s = m / 448.0f, d = s > 0.0f ? s : 1.0f;
    if (lane == 0) scale[row] = s;
    for (int i = lane; i < columns; i += 32)
        codes[i] = __nv_cvt_float_to_fp8(__bfloat162float(x[i]) / d, __NV_SATFINITE, __NV_E4M3);
}

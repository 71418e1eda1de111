// One thread does a row.
// does not reach: Whole sectors
// does not reach: Read once
// does not reach: Sixteen bytes a load
#include "lab.cuh"
#include <cuda_bf16.h>
#include <cuda_fp8.h>
// lockstep: block = 32
// lockstep: grid = ceil_div(rows, 32)
extern "C" __global__ void quantize_rows(const __nv_bfloat16* x, unsigned char* codes, float* scale, int rows, int columns)
{
    int r = blockIdx.x * 32 + threadIdx.x;
    if (r >= rows) return;
    const __nv_bfloat16* p = x + (size_t)r * columns;
    float m = 0;
    for (int i = 0; i < columns; i++) m = fmaxf(m, fabsf(p[i]));
    float s = m / 448.0f;
    scale[r] = s;
    for (int i = 0; i < columns; i++)
        codes[(size_t)r * columns + i] = s == 0 ? 0 : __nv_cvt_float_to_fp8((float)p[i] / s, __NV_SATFINITE, __NV_E4M3);
}

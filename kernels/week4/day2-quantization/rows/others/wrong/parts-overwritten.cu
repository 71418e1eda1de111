// The second barrier of the loop is missing.
// rejected for: race
// leads to: part
#include "lab.cuh"
#include <cuda_bf16.h>
#include <cuda_fp8.h>

// lockstep: block = 128
// lockstep: grid = 40
// Blocks stride over the rows.
extern "C" __global__ void quantize_rows(const __nv_bfloat16* x, unsigned char* codes, float* scale, int rows, int columns)
{
    __shared__ float part[4];
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const __nv_bfloat16* from = x + (size_t)row * columns;
        float most = 0;
        for (int c = threadIdx.x; c < columns; c += 128) most = fmaxf(most, fabsf(__bfloat162float(from[c])));
        for (int d = 16; d; d /= 2) most = fmaxf(most, __shfl_xor_sync(FULL_MASK, most, d));
        if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = most;
        __syncthreads();
        most = fmaxf(fmaxf(part[0], part[1]), fmaxf(part[2], part[3]));
        const float s = most / 448.0f;
        if (threadIdx.x == 0) scale[row] = s;
        for (int c = threadIdx.x; c < columns; c += 128)
            codes[(size_t)row * columns + c] = __nv_cvt_float_to_fp8(s == 0.0f ? 0.0f : __bfloat162float(from[c]) / s, __NV_SATFINITE, __NV_E4M3);
    }
}

// As on a CPU: a thread a row.
// does not reach: Whole sectors
// does not reach: Read once
// does not reach: Sixteen bytes a load
#include "lab.cuh"
#include <cuda_bf16.h>
#include <cuda_fp8.h>

// lockstep: block = 128
// lockstep: grid = ceil_div(rows, block_x)
extern "C" __global__ void quantize_rows(const __nv_bfloat16* x, unsigned char* codes, float* scale, int rows, int columns)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float most = 0;
        for (int c = 0; c < columns; ++c) { float v = __bfloat162float(x[(size_t)row * columns + c]); most = v > most ? v : -v > most ? -v : most; }
        float s = most / 448;
        scale[row] = s;
        for (int c = 0; c < columns; ++c) {
            float v = __bfloat162float(x[(size_t)row * columns + c]);
            __nv_fp8_e4m3 q(s != 0 ? v / s : 0.0f);
            codes[(size_t)row * columns + c] = q.__x;
        }
    }
}

// x[c * rows + row].
// rejected for: wrong_output
// leads to: A row starts at
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
        for (int c = 0; c < columns; ++c) { float v = __bfloat162float(x[(size_t)c * rows + row]); most = v > most ? v : -v > most ? -v : most; }
        float s = most / 448;
        scale[row] = s;
        for (int c = 0; c < columns; ++c) {
            float v = __bfloat162float(x[(size_t)c * rows + row]);
            __nv_fp8_e4m3 q(s != 0 ? v / s : 0.0f);
            codes[(size_t)row * columns + c] = q.__x;
        }
    }
}

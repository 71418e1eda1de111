// The tensor scale twice.
// rejected for: wrong_output
// leads to: once
#include "lab.cuh"
#include <cuda_fp8.h>
// Plain loops: a thread four results, every product in floats, for any machine.
__constant__ float LEVEL[16] = {0.f, .5f, 1.f, 1.5f, 2.f, 3.f, 4.f, 6.f, -0.f, -.5f, -1.f, -1.5f, -2.f, -3.f, -4.f, -6.f};
__device__ float number(const unsigned char* codes, const unsigned char* scales, int row, int k, int j)
{
    const unsigned byte = codes[row * (k / 2) + j / 2];
    const float s = (float)*reinterpret_cast<const __nv_fp8_e4m3*>(scales + row * (k / 16) + j / 16);
    return LEVEL[j % 2 ? byte >> 4 : byte & 15] * s;
}
extern "C" __global__ void tile_nvfp4(const unsigned char* a, const unsigned char* b, const unsigned char* a_scales, const unsigned char* b_scales, float* c, int m, int n, int k, float scale)
{
    for (int i = threadIdx.x; i < 128; i += 32) {
        const int row = blockIdx.x * 16 + i / 8, column = blockIdx.y * 8 + i % 8;
        float sum = 0.0f;
        for (int j = 0; j < k; j++) sum += number(a, a_scales, row, k, j) * number(b, b_scales, column, k, j);
        c[row * n + column] = sum * scale * scale;
    }
}

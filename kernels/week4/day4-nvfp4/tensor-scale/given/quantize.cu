#include "lab.cuh"
#include <cuda_bf16.h>
#include <cuda_fp8.h>

// The course's quantizer: the tensor's scale from the largest magnitude, then NVFP4. One thread does one block of 16. It takes
// the code of an element from a table of borders; your own way is as good.
extern "C" __global__ void quantize(const __nv_bfloat16* x, const unsigned* largest, float* y_scale, unsigned char* y_codes,
                                    __nv_fp8_e4m3* y_scales, int n)
{
    const float tensor_scale = __uint_as_float(*largest) / (6.0f * 448.0f);
    const int block = blockIdx.x * blockDim.x + threadIdx.x;
    if (block == 0) {
        *y_scale = tensor_scale;
    }
    if (block >= n / 16) {
        return;
    }
    float most = 0.0f;
    for (int i = 0; i < 16; i++) {
        most = fmaxf(most, fabsf(__bfloat162float(x[16 * block + i])));
    }
    const __nv_fp8_e4m3 scale(tensor_scale > 0.0f ? most / 6.0f / tensor_scale : 0.0f);
    y_scales[block] = scale;
    const float factor = float(scale) * tensor_scale;
    const float borders[7] = {0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5.0f};
    unsigned char byte = 0;
    for (int i = 0; i < 16; i++) {
        const float q = factor > 0.0f ? __bfloat162float(x[16 * block + i]) / factor : 0.0f;
        unsigned code = 0;
        for (int b = 0; b < 7; b++) {
            code += b % 2 ? fabsf(q) >= borders[b] : fabsf(q) > borders[b];
        }
        code |= q < 0.0f ? 8 : 0;
        byte = i % 2 ? byte | code << 4 : code;
        if (i % 2) {
            y_codes[8 * block + i / 2] = byte;
        }
    }
}

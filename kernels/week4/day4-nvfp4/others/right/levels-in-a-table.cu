// The levels in a table, the scale by searching all 127 codes.
// does not reach: Every sector once
#include "lab.cuh"
#include <cuda_bf16.h>

// lockstep: block = 64
// lockstep: grid = 20
// A table of magnitudes, the nearest by distance; stride over the grid; codes as one 64-bit number.
__constant__ float LEVEL[8] = {0.f, .5f, 1.f, 1.5f, 2.f, 3.f, 4.f, 6.f};
template <int MANTISSA_BIAS> __device__ float decode_e4m3(unsigned c) { return (c >> 3) == 0 ? ldexpf((float)(c & 7), -9) : ldexpf(1.0f + (c & 7) / 8.0f, (int)(c >> 3) - MANTISSA_BIAS); }
__device__ unsigned encode_e4m3(float v)
{
    unsigned best = 0;
    float error = 1e30f;
    for (unsigned c = 0; c <= 0x7e; c++) {
        const float e = fabsf(v - decode_e4m3<7>(c));
        if (e < error || (e == error && (c & 1) == 0)) { error = e; best = c; }
    }
    return best;
}
extern "C" __global__ void quantize_nvfp4(const __nv_bfloat16* x, const float* y_scale, unsigned char* y_codes, unsigned char* y_scales, int n, int k)
{
    const float tensor = y_scale[0];
    for (int b = blockIdx.x * blockDim.x + threadIdx.x; b < n * k / 16; b += gridDim.x * blockDim.x) {
        float v[16], most = 0;
        for (int i = 0; i < 16; i++) { v[i] = __bfloat162float(x[(size_t)16 * b + i]); most = fmaxf(most, fabsf(v[i])); }
        const unsigned s = encode_e4m3((most / 6) / tensor);
        const float f = decode_e4m3<7>(s) * tensor;
        unsigned long long packed = 0;
        for (int i = 0; i < 16 && f != 0; i++) {
            const float q = v[i] / f;
            int c = 0;
            for (int l = 1; l < 8; l++) {
                const float border = 0.5f * (LEVEL[l] + LEVEL[l - 1]);
                if (fabsf(q) > border || (fabsf(q) == border && l % 2 == 0)) c = l;
            }
            if (signbit(q)) c += 8;
            packed |= (unsigned long long)c << (4 * i);
        }
        y_scales[b] = (unsigned char)s;
        reinterpret_cast<unsigned long long*>(y_codes)[b] = packed;
    }
}

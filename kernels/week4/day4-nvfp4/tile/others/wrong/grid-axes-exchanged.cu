// blockIdx.x for the columns.
// rejected for: out_of_bounds
// leads to: blockIdx.x counts
#include "lab.cuh"

__device__ int twice(unsigned code)
{
    const int magnitude = 0xc8643210u >> (4 * (code & 7)) & 15;
    return code & 8 ? -magnitude : magnitude;
}
__device__ float e4m3_value(unsigned code)
{
    return code < 8 ? code * 0.001953125f : __uint_as_float((code << 20) + (120 << 23));
}

__device__ int four(unsigned half)      // four codes as four signed bytes
{
    int r = 0;
#pragma unroll
    for (int j = 0; j < 4; j++) r |= (twice(half >> 4 * j & 15) & 255) << 8 * j;
    return r;
}
extern "C" __global__ void tile_nvfp4(const unsigned* a, const unsigned* b, const unsigned* a_scales, const unsigned* b_scales, float* c, int m, int n, int k, float scale)
{
    const int g = threadIdx.x >> 2, t = threadIdx.x & 3;
    const int words = k / 8, sw = k / 64;
    for (int i = 0; i < 4; i++) {
        const int row = blockIdx.y * 16 + g + (i >> 1) * 8, col = blockIdx.x * 8 + 2 * t + (i & 1);
        float acc = 0.0f;
        for (int w = 0; w < words; w += 2) {
            int dot = 0;
            for (int q = 0; q < 2; q++) {
                const unsigned x = a[row * words + w + q], y = b[col * words + w + q];
                dot = __dp4a(four(x & 0xffff), four(y & 0xffff), dot);
                dot = __dp4a(four(x >> 16), four(y >> 16), dot);
            }
            const int shift = w / 2 % 4 * 8;
            acc += 0.25f * dot * e4m3_value(a_scales[row * sw + w / 8] >> shift & 255) * e4m3_value(b_scales[col * sw + w / 8] >> shift & 255);
        }
        c[row * n + col] = scale * acc;
    }
}

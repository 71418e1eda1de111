// Two floats at once, at columns t and t + 1.
// rejected for: wide_access
// leads to: even column
#include "mma.cuh"

#if __CUDA_ARCH_FAMILY_SPECIFIC__ >= 1200 && __CUDA_ARCH_FAMILY_SPECIFIC__ < 1300
#define NATIVE 1
#else
#define NATIVE 0
#endif

__device__ int twice(unsigned code)
{
    const int magnitude = 0xc8643210u >> (4 * (code & 7)) & 15;
    return code & 8 ? -magnitude : magnitude;
}
__device__ float e4m3_value(unsigned code)
{
    return code < 8 ? code * 0.001953125f : __uint_as_float((code << 20) + (120 << 23));
}
extern "C" __global__ void tile_nvfp4(const unsigned* a, const unsigned* b, const unsigned* a_scales, const unsigned* b_scales, float* c, int m, int n, int k, float scale)
{
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    const int row = blockIdx.x * 16 + g, column = blockIdx.y * 8 + g;
    float d[4] = {};
#if NATIVE
    for (int s = 0; s < k / 64; s++) {
        const unsigned* up = a + row * (k / 8) + 8 * s;
        const unsigned* down = up + k;
        const unsigned* right = b + column * (k / 8) + 8 * s;
        const unsigned words[4] = {up[t], down[t], up[t + 4], down[t + 4]};
        mma_nvfp4(d, words, right[t], right[t + 4], a_scales[(row + (t == 1 ? 8 : 0)) * (k / 64) + s], b_scales[column * (k / 64) + s]);
    }
#else
    // Codes times scales fit bf16 exactly, and so the bf16 tensor core does it.
    for (int s = 0; s < k / 16; s++) {
        auto pair = [&](const unsigned* codes, const unsigned* scales, int line, int first) {
            const unsigned two = codes[line * (k / 8) + (16 * s + first) / 8] >> 4 * (first % 8);
            const float f = 0.5f * e4m3_value(scales[line * (k / 64) + s / 4] >> 8 * (s % 4) & 255);
            return pack_bf16(f * twice(two & 15), f * twice(two >> 4 & 15));
        };
        const unsigned fa[4] = {pair(a, a_scales, row, 2 * t), pair(a, a_scales, row + 8, 2 * t), pair(a, a_scales, row, 2 * t + 8), pair(a, a_scales, row + 8, 2 * t + 8)};
        mma_bf16(d, fa, pair(b, b_scales, column, 2 * t), pair(b, b_scales, column, 2 * t + 8));
    }
#endif
    const int left = blockIdx.y * 8 + t;
    *(float2*)&c[row * n + left] = make_float2(scale * d[0], scale * d[1]);
    *(float2*)&c[(row + 8) * n + left] = make_float2(scale * d[2], scale * d[3]);
}

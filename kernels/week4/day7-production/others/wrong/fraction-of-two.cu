// e2m1 as e1m2.
// rejected for: wrong_output
// leads to: 0, 0.5, 1, 1.5
#include "lab.cuh"
// lockstep: block = 64
// lockstep: grid = heads, batch
// A thread an element; page by page, the page's row once.
__device__ float number(unsigned code, int exponent_bits, int fraction_bits, int bias)
{
    const unsigned e = code >> fraction_bits & ((1u << exponent_bits) - 1), f = code & ((1u << fraction_bits) - 1);
    const float m = e == 0 ? ldexpf((float)f, 1 - bias - fraction_bits) : ldexpf((float)(f | 1u << fraction_bits), (int)e - bias - fraction_bits);
    return code >> (exponent_bits + fraction_bits) & 1 ? -m : m;
}
extern "C" __global__ void decode_paged(const float* q, const unsigned char* k_codes, const unsigned char* v_codes, const unsigned char* v_scales,
                                        const float* k_scale, const float* v_scale, const int* page_table, const int* lengths, float* out, int heads,
                                        int key_heads, int page_size, int most_pages)
{
    __shared__ float part[2];
    const int h = blockIdx.x, b = blockIdx.y, e = threadIdx.x, group = heads / key_heads;
    const float mine = q[(b * heads + h) * 64 + e] / 8.0f * k_scale[0];
    float most = -INFINITY, total = 0.0f, sum = 0.0f;
    int left = lengths[b];
    for (int p = 0; left > 0; p++, left -= page_size) {
        const size_t first = (size_t)page_table[b * most_pages + p] * page_size;
        for (int slot = 0; slot < page_size && slot < left; slot++) {
            const size_t row = (first + slot) * key_heads + h / group;
            float s = mine * number(k_codes[row * 64 + e], 4, 3, 7);
            for (int d = 16; d > 0; d >>= 1) s += __shfl_down_sync(0xffffffff, s, d);
            __syncthreads();
            if (e % 32 == 0) part[e / 32] = s;
            __syncthreads();
            s = part[0] + part[1];
            const float now = fmaxf(most, s), keep = expf(most - now), w = expf(s - now);
            const unsigned byte = v_codes[row * 32 + e / 2];
            sum = sum * keep + w * number(e & 1 ? byte >> 4 : byte & 15, 1, 2, 1) * number(v_scales[row * 4 + e / 16], 4, 3, 7);
            total = total * keep + w;
            most = now;
        }
    }
    out[(b * heads + h) * 64 + e] = sum * v_scale[0] / total;
}

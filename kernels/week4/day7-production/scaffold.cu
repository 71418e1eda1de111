// One decode step over a paged cache: K in e4m3, V in NVFP4.
//
// q[sequence][head][64]               one query per head
// k_codes[page][slot][key_head][64]   e4m3, value = code * k_scale[0]
// v_codes[page][slot][key_head][32]   two e2m1 codes per byte, the even column in the low nibble
// v_scales[page][slot][key_head][4]   e4m3, one for 16 elements, value = code * scale * v_scale[0]
// page_table[sequence][most_pages]    which page holds tokens 0 to page_size - 1, the next page_size, and so on
//
// This launch has one warp for each query head of each sequence; a lane owns elements 2 * lane and 2 * lane + 1.
#include "lab.cuh"

__device__ float e4m3(unsigned code)
{
    return __uint_as_float((code & 0x80) << 24 | (code & 0x7f) << 20) * 0x1p120f;
}

__device__ float e2m1(unsigned code)
{
    return __uint_as_float((code & 8) << 28 | (code & 7) << 22) * 0x1p126f;
}

extern "C" __global__ void decode_paged(const float* q, const unsigned char* k_codes, const unsigned char* v_codes,
                                        const unsigned char* v_scales, const float* k_scale, const float* v_scale,
                                        const int* page_table, const int* lengths, float* out, int heads,
                                        int key_heads, int page_size, int most_pages)
{
    int head = blockIdx.x, sequence = blockIdx.y, lane = threadIdx.x;
    const float* my_q = q + (sequence * heads + head) * 64;
    float q0 = my_q[2 * lane], q1 = my_q[2 * lane + 1];
    float scale = k_scale[0] * 0.125f;

    float largest = -INFINITY, sum = 0.0f, out0 = 0.0f, out1 = 0.0f;
    for (int t = 0; t < lengths[sequence]; t++) {
        // TODO 1: which row? Page, slot and key head. `row` counts rows of 64 elements.
        size_t row = 0;

        float score = q0 * e4m3(k_codes[row * 64 + 2 * lane]) + q1 * e4m3(k_codes[row * 64 + 2 * lane + 1]);
        for (int step = 16; step > 0; step /= 2) score += __shfl_xor_sync(FULL_MASK, score, step);
        score *= scale;

        // TODO 2: the running maximum. What happens to `sum`, `out0` and `out1` when it grows?
        float weight = expf(score - fmaxf(largest, score));
        sum += weight;

        // TODO 3: this lane's two values, from one byte of codes and one scale.
        out0 += weight * e2m1(v_codes[row * 32]);
        out1 += weight * v_scale[0];
    }
    float* my_out = out + (sequence * heads + head) * 64;
    my_out[2 * lane] = out0 / sum;
    my_out[2 * lane + 1] = out1 / sum;
}

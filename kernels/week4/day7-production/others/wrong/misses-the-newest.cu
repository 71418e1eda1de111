// Leaves the newest token out.
// rejected for: nan_output
// leads to: or the newest token is missing
#include "lab.cuh"

// e4m3: sign, four bits of exponent, three of fraction. Moved to where a float keeps them, the value is 2^120 too
// small: a float's exponent counts from -127, that of e4m3 from -7. The product with 2^120 is exact, also for
// the smallest codes. (0x7f is NaN, which no cache holds.)
__device__ float e4m3(unsigned code)
{
    return __uint_as_float((code & 0x80) << 24 | (code & 0x7f) << 20) * 0x1p120f;
}

// e2m1: sign, two bits of exponent, one of fraction. 0, 0.5, 1, 1.5, 2, 3, 4, 6.
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
    int key_head = head / (heads / key_heads);
    const float* my_q = q + (sequence * heads + head) * 64;
    float q0 = my_q[2 * lane], q1 = my_q[2 * lane + 1];
    float scale = k_scale[0] * 0.125f;  // 1 / sqrt(64)

    float largest = -INFINITY, sum = 0.0f, out0 = 0.0f, out1 = 0.0f;
    for (int t = 0; t < lengths[sequence] - 1; t++) {
        int page = page_table[sequence * most_pages + t / page_size];
        size_t row = (size_t)(page * page_size + t % page_size) * key_heads + key_head;

        float score = q0 * e4m3(k_codes[row * 64 + 2 * lane]) + q1 * e4m3(k_codes[row * 64 + 2 * lane + 1]);
        for (int step = 16; step > 0; step /= 2) score += __shfl_xor_sync(FULL_MASK, score, step);
        score *= scale;

        float larger = fmaxf(largest, score);
        float shrink = expf(largest - larger), weight = expf(score - larger);
        largest = larger;

        unsigned pair = v_codes[row * 32 + lane];
        float value_scale = e4m3(v_scales[row * 4 + lane / 8]) * v_scale[0];
        sum = sum * shrink + weight;
        out0 = out0 * shrink + weight * value_scale * e2m1(pair & 15);
        out1 = out1 * shrink + weight * value_scale * e2m1(pair >> 4);
    }
    float* my_out = out + (sequence * heads + head) * 64;
    my_out[2 * lane] = out0 / sum;
    my_out[2 * lane + 1] = out1 / sum;
}

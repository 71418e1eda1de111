// One warp for each key head: its query heads take turns at each token.
// does not reach: Wide loads
// lockstep: grid = key_heads, batch
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
    int key_head = blockIdx.x, sequence = blockIdx.y, lane = threadIdx.x, group = heads / key_heads;
    size_t first = (size_t)(sequence * heads + key_head * group) * 64 + 2 * lane;
    float q0[8], q1[8], largest[8], sum[8], out0[8], out1[8];
    for (int g = 0; g < 8; g++) {
        if (g < group) {
            float2 two = *(const float2*)(q + first + g * 64);
            q0[g] = two.x, q1[g] = two.y;
        }
        largest[g] = -INFINITY;
        sum[g] = out0[g] = out1[g] = 0.0f;
    }
    float scale = k_scale[0] * 0.125f, second_scale = v_scale[0];
    int length = lengths[sequence];
    for (int t = 0; t < length; t++) {
        int page = page_table[sequence * most_pages + t / page_size];
        size_t row = (size_t)(page * page_size + t % page_size) * key_heads + key_head;
        uchar2 key = *(const uchar2*)(k_codes + row * 64 + 2 * lane);
        float k0 = e4m3(key.x), k1 = e4m3(key.y);
        unsigned pair = v_codes[row * 32 + lane];
        float value_scale = e4m3(v_scales[row * 4 + lane / 8]) * second_scale;
        float v0 = e2m1(pair & 15) * value_scale, v1 = e2m1(pair >> 4) * value_scale;
        for (int g = 0; g < 8; g++) {
            if (g >= group) break;
            float score = q0[g] * k0 + q1[g] * k1;
            for (int step = 16; step > 0; step /= 2) score += __shfl_xor_sync(FULL_MASK, score, step);
            score *= scale;
            float larger = fmaxf(largest[g], score);
            float shrink = expf(largest[g] - larger), weight = expf(score - larger);
            largest[g] = larger;
            sum[g] = sum[g] * shrink + weight;
            out0[g] = out0[g] * shrink + weight * v0;
            out1[g] = out1[g] * shrink + weight * v1;
        }
    }
    for (int g = 0; g < 8; g++)
        if (g < group) *(float2*)(out + first + g * 64) = {out0[g] / sum[g], out1[g] / sum[g]};
}

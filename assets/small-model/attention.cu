// One query of each head over a paged cache, plainly: a warp for each query head, two elements a lane. What the cache holds
// is chosen by K_FORMAT and V_FORMAT: 0 fp16, 1 bf16, 2 e4m3, 3 NVFP4, 4 INT4 with an
// fp16 scale for 32.
#include "lab.cuh"

struct Pair
{
    float x, y;
};

__device__ float e4m3(unsigned code)
{
    return __uint_as_float((code & 0x80) << 24 | (code & 0x7f) << 20) * 0x1p120f;
}

__device__ float e2m1(unsigned code)
{
    return __uint_as_float((code & 8) << 28 | (code & 7) << 22) * 0x1p126f;
}

__device__ float half_to_float(unsigned short bits)
{
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
}

// Elements 2 * lane and 2 * lane + 1 of a row of 64.
template <int FORMAT, typename Code, typename Scale>
__device__ Pair load(const Code* codes, const Scale* scales, float scale, size_t row, int lane)
{
    if constexpr (FORMAT == 0) {
        const unsigned short* two = codes + row * 64 + 2 * lane;
        return {half_to_float(two[0]), half_to_float(two[1])};
    } else if constexpr (FORMAT == 1) {
        const unsigned short* two = codes + row * 64 + 2 * lane;
        return {__uint_as_float((unsigned)two[0] << 16), __uint_as_float((unsigned)two[1] << 16)};
    } else if constexpr (FORMAT == 2) {
        const unsigned char* two = codes + row * 64 + 2 * lane;
        return {e4m3(two[0]) * scale, e4m3(two[1]) * scale};
    } else if constexpr (FORMAT == 4) {
        int two = codes[row * 32 + lane];
        scale *= half_to_float(scales[row * 2 + lane / 16]);
        // Shifted to the top and back, so that bit 3 is the sign.
        return {(float)(two << 28 >> 28) * scale, (float)(two << 24 >> 28) * scale};
    } else {
        unsigned two = codes[row * 32 + lane];
        scale *= e4m3(scales[row * 4 + lane / 8]);
        return {e2m1(two & 15) * scale, e2m1(two >> 4) * scale};
    }
}

#if K_FORMAT < 2
typedef unsigned short KCode;
#else
typedef unsigned char KCode;
#endif
#if V_FORMAT < 2
typedef unsigned short VCode;
#else
typedef unsigned char VCode;
#endif
#if K_FORMAT == 4
typedef unsigned short KScale;
#else
typedef unsigned char KScale;
#endif
#if V_FORMAT == 4
typedef unsigned short VScale;
#else
typedef unsigned char VScale;
#endif

extern "C" __global__ void decode_paged(const float* q, const KCode* k_codes,
#if K_FORMAT >= 3
                                        const KScale* k_scales,
#endif
                                        const VCode* v_codes,
#if V_FORMAT >= 3
                                        const VScale* v_scales,
#endif
#if K_FORMAT >= 2
                                        const float* k_scale, const float* v_scale,
#endif
                                        const int* page_table, const int* lengths, float* out, int heads,
                                        int key_heads, int page_size, int most_pages)
{
#if K_FORMAT < 3
    const KScale* k_scales = nullptr;
#endif
#if V_FORMAT < 3
    const VScale* v_scales = nullptr;
#endif
#if K_FORMAT >= 2
    float k_factor = k_scale[0], v_factor = v_scale[0];
#else
    float k_factor = 1.0f, v_factor = 1.0f;
#endif
    int head = blockIdx.x, sequence = blockIdx.y, lane = threadIdx.x;
    int key_head = head / (heads / key_heads);
    const float* my_q = q + (sequence * heads + head) * 64;
    float q0 = my_q[2 * lane], q1 = my_q[2 * lane + 1];

    float largest = -INFINITY, sum = 0.0f, out0 = 0.0f, out1 = 0.0f;
    for (int t = 0; t < lengths[sequence]; t++) {
        int page = page_table[sequence * most_pages + t / page_size];
        size_t row = (size_t)(page * page_size + t % page_size) * key_heads + key_head;
        Pair k = load<K_FORMAT>(k_codes, k_scales, k_factor, row, lane);
        float score = q0 * k.x + q1 * k.y;
        for (int step = 16; step > 0; step /= 2) score += __shfl_xor_sync(FULL_MASK, score, step);
        score *= 0.125f;  // 1 / sqrt(64)
        float larger = fmaxf(largest, score);
        float shrink = expf(largest - larger), weight = expf(score - larger);
        largest = larger;
        Pair v = load<V_FORMAT>(v_codes, v_scales, v_factor, row, lane);
        sum = sum * shrink + weight;
        out0 = out0 * shrink + weight * v.x;
        out1 = out1 * shrink + weight * v.y;
    }
    float* my_out = out + (sequence * heads + head) * 64;
    my_out[2 * lane] = out0 / sum;
    my_out[2 * lane + 1] = out1 / sum;
}

// One block for each key head of each sequence: all query heads that share the key head work from one read of it.
// Eight lanes take a token, 8 elements each: one load of 8 bytes for the key, one of 4 for the value, and those of
// the next token are started before this one is used. Every eight lanes run a softmax of their own; all of them are
// merged once at the end.
// lockstep: block = 128
// lockstep: grid = key_heads, batch
#include "lab.cuh"

constexpr int WARPS = 4;
constexpr int PART = 8;                 // elements of a lane
constexpr int LANES = 64 / PART;        // of a token
constexpr int TOKENS = WARPS * 32 / LANES;
constexpr float LOG2_E = 1.4426950408889634f;

// Four e4m3 codes of a word as floats.
__device__ void four_e4m3(unsigned word, float* x)
{
#if __CUDA_ARCH__ >= 890
    unsigned low, high;
    asm("{ .reg .b16 a, b; mov.b32 {a, b}, %2; cvt.rn.f16x2.e4m3x2 %0, a; cvt.rn.f16x2.e4m3x2 %1, b; }"
        : "=r"(low), "=r"(high) : "r"(word));
    asm("{ .reg .b16 a, b; mov.b32 {a, b}, %2; cvt.f32.f16 %0, a; cvt.f32.f16 %1, b; }" : "=f"(x[0]), "=f"(x[1]) : "r"(low));
    asm("{ .reg .b16 a, b; mov.b32 {a, b}, %2; cvt.f32.f16 %0, a; cvt.f32.f16 %1, b; }" : "=f"(x[2]), "=f"(x[3]) : "r"(high));
#else
    for (int i = 0; i < 4; i++, word >>= 8)
        x[i] = __uint_as_float((word & 0x80) << 24 | (word & 0x7f) << 20) * 0x1p120f;
#endif
}

__device__ float e4m3(unsigned code)
{
    return __uint_as_float((code & 0x80) << 24 | (code & 0x7f) << 20) * 0x1p120f;
}

// Code number `at` of eight in a word, 2^126 too small: the factor is in the scale.
__device__ float small_e2m1(unsigned word, int at)
{
    unsigned code = word >> (4 * at);
    return __uint_as_float((code & 8) << 28 | (code & 7) << 22);
}

template <int GROUP>
__device__ void attend(const float* q, const unsigned char* k_codes, const unsigned char* v_codes,
                       const unsigned char* v_scales, float k_scale, float v_scale, const int* pages, int length,
                       float* out, int key_heads, int page_size)
{
    __shared__ float part_out[WARPS][GROUP][64];
    __shared__ float part_most[WARPS][GROUP], part_sum[WARPS][GROUP];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, part = lane % LANES;
    unsigned team = 0xffu << (lane - part);

    float mine[GROUP][PART], sums[GROUP][PART], most[GROUP], sum[GROUP];
    // exp(x) is exp2(x * log2 e): the factor costs nothing in the scale.
    float scale = k_scale * 0.125f * LOG2_E;
    for (int g = 0; g < GROUP; g++) {
        most[g] = -1e30f;
        sum[g] = 0.0f;
        for (int i = 0; i < PART; i += 4) {
            float4 four = *(const float4*)(q + g * 64 + part * PART + i);
            mine[g][i] = four.x * scale, mine[g][i + 1] = four.y * scale;
            mine[g][i + 2] = four.z * scale, mine[g][i + 3] = four.w * scale;
        }
        for (int i = 0; i < PART; i++) sums[g][i] = 0.0f;
    }

    auto row_of = [&](int t) { return (size_t)(pages[t / page_size] * page_size + t % page_size) * key_heads + blockIdx.x; };
    auto key_at = [&](size_t row) { return *(const uint2*)(k_codes + row * 64 + part * PART); };
    auto value_at = [&](size_t row) { return *(const unsigned*)(v_codes + row * 32 + part * PART / 2); };
    auto scale_at = [&](size_t row) { return (unsigned)v_scales[row * 4 + part / 2]; };
    uint2 next_key = {0, 0};
    unsigned next_value = 0, next_scale = 0;
    int first = threadIdx.x / LANES;
    if (first < length) {
        size_t row = row_of(first);
        next_key = key_at(row), next_value = value_at(row), next_scale = scale_at(row);
    }
    for (int t = first; t < length; t += TOKENS) {
        uint2 key = next_key;
        unsigned value = next_value;
        float value_scale = e4m3(next_scale) * v_scale;
        if (t + TOKENS < length) {
            size_t row = row_of(t + TOKENS);
            next_key = key_at(row), next_value = value_at(row), next_scale = scale_at(row);
        }

        float k[PART];
        four_e4m3(key.x, k), four_e4m3(key.y, k + 4);
        float weight[GROUP];
        for (int g = 0; g < GROUP; g++) {
            float score = 0.0f;
            for (int i = 0; i < PART; i++) score += mine[g][i] * k[i];
            for (int step = 1; step < LANES; step *= 2) score += __shfl_xor_sync(team, score, step);
            float larger = fmaxf(most[g], score);
            float shrink = exp2f(most[g] - larger);
            weight[g] = exp2f(score - larger);
            most[g] = larger;
            sum[g] = sum[g] * shrink + weight[g];
            for (int i = 0; i < PART; i++) sums[g][i] *= shrink;
        }
        for (int i = 0; i < PART; i++) {
            float v = small_e2m1(value, i) * 0x1p126f * value_scale;
            for (int g = 0; g < GROUP; g++) sums[g][i] += weight[g] * v;
        }
    }

    // Lanes of one part, four in a warp, then the warps.
    for (int g = 0; g < GROUP; g++) {
        float all = most[g];
        for (int step = LANES; step < 32; step *= 2) all = fmaxf(all, __shfl_xor_sync(FULL_MASK, all, step));
        float shrink = exp2f(most[g] - all);
        float total = sum[g] * shrink;
        for (int step = LANES; step < 32; step *= 2) total += __shfl_xor_sync(FULL_MASK, total, step);
        for (int i = 0; i < PART; i++) {
            float x = sums[g][i] * shrink;
            for (int step = LANES; step < 32; step *= 2) x += __shfl_xor_sync(FULL_MASK, x, step);
            if (lane < LANES) part_out[warp][g][part * PART + i] = x;
        }
        if (lane == 0) {
            part_most[warp][g] = all;
            part_sum[warp][g] = total;
        }
    }
    __syncthreads();
    for (int at = threadIdx.x; at < GROUP * 64; at += WARPS * 32) {
        int g = at / 64, element = at % 64;
        float all = part_most[0][g];
        for (int w = 1; w < WARPS; w++) all = fmaxf(all, part_most[w][g]);
        float total = 0.0f, x = 0.0f;
        for (int w = 0; w < WARPS; w++) {
            float shrink = exp2f(part_most[w][g] - all);
            total += part_sum[w][g] * shrink;
            x += part_out[w][g][element] * shrink;
        }
        out[at] = x / total;
    }
}

extern "C" __global__ void __launch_bounds__(WARPS * 32)
    decode_paged(const float* q, const unsigned char* k_codes, const unsigned char* v_codes,
                 const unsigned char* v_scales, const float* k_scale, const float* v_scale, const int* page_table,
                 const int* lengths, float* out, int heads, int key_heads, int page_size, int most_pages)
{
    int group = heads / key_heads, sequence = blockIdx.y;
    const int* pages = page_table + sequence * most_pages;
    // A group of four at a time, then two, then one: the compiler keeps each size in registers.
    for (int done = 0; done < group;) {
        size_t at = (size_t)(sequence * heads + blockIdx.x * group + done) * 64;
        int left = group - done;
        if (left >= 4) {
            attend<4>(q + at, k_codes, v_codes, v_scales, k_scale[0], v_scale[0], pages, lengths[sequence], out + at, key_heads, page_size);
            done += 4;
        } else if (left >= 2) {
            attend<2>(q + at, k_codes, v_codes, v_scales, k_scale[0], v_scale[0], pages, lengths[sequence], out + at, key_heads, page_size);
            done += 2;
        } else {
            attend<1>(q + at, k_codes, v_codes, v_scales, k_scale[0], v_scale[0], pages, lengths[sequence], out + at, key_heads, page_size);
            done += 1;
        }
        __syncthreads();
    }
}

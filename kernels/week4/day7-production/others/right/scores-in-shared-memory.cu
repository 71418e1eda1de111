// A block for each query head: scores into shared memory, one softmax over them, then the values.
// does not reach: Each key read once
// does not reach: Wide loads
// lockstep: block = 64
// lockstep: dynamic_shared_bytes = 4 * most_pages * page_size
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
    extern __shared__ float weights[];
    __shared__ float total;
    int head = blockIdx.x, sequence = blockIdx.y, key_head = head / (heads / key_heads), length = lengths[sequence];
    const float* my_q = q + (sequence * heads + head) * 64;
    auto row_of = [&](int t) {
        return (size_t)(page_table[sequence * most_pages + t / page_size] * page_size + t % page_size) * key_heads + key_head;
    };
    // A thread for each token, as in a matrix product.
    for (int t = threadIdx.x; t < length; t += blockDim.x) {
        const unsigned* key = (const unsigned*)(k_codes + row_of(t) * 64);
        float score = 0.0f;
        for (int word = 0; word < 16; word++)
            for (int i = 0; i < 4; i++) score += my_q[4 * word + i] * e4m3(key[word] >> (8 * i) & 255);
        weights[t] = score * k_scale[0] * 0.125f;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        float largest = -INFINITY, sum = 0.0f;
        for (int t = 0; t < length; t++) largest = fmaxf(largest, weights[t]);
        for (int t = 0; t < length; t++) sum += weights[t] = expf(weights[t] - largest);
        total = sum;
    }
    __syncthreads();
    // Then a thread for each element.
    float value = 0.0f;
    for (int t = 0; t < length; t++) {
        size_t row = row_of(t);
        unsigned code = v_codes[row * 32 + threadIdx.x / 2] >> (4 * (threadIdx.x % 2)) & 15;
        value += weights[t] * e2m1(code) * e4m3(v_scales[row * 4 + threadIdx.x / 16]);
    }
    out[(sequence * heads + head) * 64 + threadIdx.x] = value * v_scale[0] / total;
}

#include "lab.cuh"

// Attention of one new token, with K and V rounded to a format on their way in, as if a cache had stored them so. One block has
// one query head. 16: not rounded. 8: e4m3. 4: NVFP4, blocks of 16 with an e4m3 scale.
#define K_BITS 16
#define V_BITS 16

#define D 64
#define THREADS 128

__device__ float round_e4m3(float x)
{
    const float size = fminf(fabsf(x), 448.0f);
    // The distance of neighbors: eight of them in each power of two, 2^-9 at the bottom.
    const float step = fmaxf(__uint_as_float(__float_as_uint(size) & 0x7f800000) * 0.125f, 1.0f / 512);
    return copysignf(rintf(size / step) * step, x);
}

__device__ float round_e2m1(float x)
{
    const float size = fminf(fabsf(x), 6.0f), step = size < 2.0f ? 0.5f : size < 4.0f ? 1.0f : 2.0f;
    return copysignf(rintf(size / step) * step, x);
}

// Element `at` of a row, rounded.
__device__ float read(const float* row, int at, int bits)
{
    const float x = row[at];
    if (bits == 8) {
        return round_e4m3(x * 4.0f) / 4.0f;
    }
    if (bits == 4) {
        float most = 0.0f;
        for (int i = at / 16 * 16; i < at / 16 * 16 + 16; i++) {
            most = fmaxf(most, fabsf(row[i]));
        }
        const float scale = round_e4m3(most / 6.0f * 16.0f) / 16.0f;
        return scale == 0.0f ? 0.0f : round_e2m1(x / scale) * scale;
    }
    return x;
}

extern "C" __global__ void attend(const float* q, const float* k, const float* v, const int* lengths, float* out, int heads, int capacity)
{
    extern __shared__ float weights[];
    __shared__ float total;
    const int head = blockIdx.x, sequence = blockIdx.y, thread = threadIdx.x;
    const int length = lengths[sequence];
    const float* query = q + ((long long)sequence * heads + head) * D;
    for (int key = thread; key < length; key += THREADS) {
        const float* row = k + ((long long)sequence * capacity + key) * D;
        float score = 0.0f;
        for (int i = 0; i < D; i++) {
            score += query[i] * read(row, i, K_BITS);
        }
        weights[key] = score / sqrtf(D);
    }
    __syncthreads();
    if (thread == 0) {
        float most = -INFINITY;
        for (int key = 0; key < length; key++) {
            most = fmaxf(most, weights[key]);
        }
        total = 0.0f;
        for (int key = 0; key < length; key++) {
            weights[key] = expf(weights[key] - most);
            total += weights[key];
        }
    }
    __syncthreads();
    for (int i = thread; i < D; i += THREADS) {
        float sum = 0.0f;
        for (int key = 0; key < length; key++) {
            sum += weights[key] * read(v + ((long long)sequence * capacity + key) * D, i, V_BITS);
        }
        out[((long long)sequence * heads + head) * D + i] = sum / total;
    }
}

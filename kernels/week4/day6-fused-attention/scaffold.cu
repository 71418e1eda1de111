#include "lab.cuh"

// Decode attention over a cache with K in e4m3 and V in NVFP4. A block has one stretch of KEYS keys of one key head of one
// sequence, and serves all query heads of that key head's group.
// lockstep: decode_split.block = THREADS
// lockstep: decode_split.grid = ceil_div(capacity, KEYS), key_heads, batch
// lockstep: decode_merge.block = D
// lockstep: decode_merge.grid = heads, batch
// lockstep: size(partial) = ceil_div(capacity, KEYS) * batch * heads * D
// lockstep: size(partial_lse) = ceil_div(capacity, KEYS) * batch * heads
#define KEYS 128
#define THREADS 128
#define D 128
#define WARPS (THREADS / 32)
#define MOST_GROUP 8

// The value of an e4m3 code.
__device__ float from_e4m3(uint32_t code)
{
    const uint32_t exponent = code >> 3 & 15, fraction = code & 7;
    const float magnitude = exponent == 0 ? fraction / 512.0f : __uint_as_float(exponent + 120 << 23 | fraction << 20);
    return code & 128 ? -magnitude : magnitude;
}

// The value of an e2m1 code, of its lowest four bits.
__device__ float from_e2m1(uint32_t code)
{
    const uint32_t exponent = code >> 1 & 3, fraction = code & 1;
    const float magnitude = exponent == 0 ? fraction * 0.5f : __uint_as_float(exponent + 126 << 23 | fraction << 22);
    return code & 8 ? -magnitude : magnitude;
}

__device__ float warp_sum(float value)
{
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(FULL_MASK, value, distance);
    }
    return value;
}

__device__ float warp_max(float value)
{
    for (int distance = 16; distance > 0; distance /= 2) {
        value = fmaxf(value, __shfl_xor_sync(FULL_MASK, value, distance));
    }
    return value;
}

extern "C" __global__ void decode_split(const uint16_t* q, const uint8_t* k_codes, const float* k_scale, const uint8_t* v_codes,
                                        const uint8_t* v_scales, const float* v_scale, const int* lengths, float* partial,
                                        float* partial_lse, int batch, int heads, int key_heads, int capacity, float scale)
{
    __shared__ float weights[MOST_GROUP][KEYS];
    __shared__ float sums[WARPS][MOST_GROUP][D];
    __shared__ float totals[MOST_GROUP];
    const int split = blockIdx.x, key_head = blockIdx.y, sequence = blockIdx.z;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int group = heads / key_heads;
    const int first = split * KEYS;
    const int count = least(KEYS, lengths[sequence] - first);
    // The result of the group's first query head in this split.
    const long long slot = (long long)(split * batch + sequence) * heads + key_head * group;
    if (count <= 0) {
        return;
    }

    // Scores: a warp has a key, a lane four elements of all query heads.
    float mine[MOST_GROUP][4] = {};
#pragma unroll
    for (int h = 0; h < MOST_GROUP; h++) {
        if (h < group) {
            const long long row = (long long)sequence * heads + key_head * group + h;
            const uint2 four = *(const uint2*)(q + row * D + 4 * lane);
            mine[h][0] = __uint_as_float(four.x << 16);
            mine[h][1] = __uint_as_float(four.x & 0xffff0000);
            mine[h][2] = __uint_as_float(four.y << 16);
            mine[h][3] = __uint_as_float(four.y & 0xffff0000);
        }
    }
    const float factor = *k_scale * scale;
    for (int key = warp; key < count; key += WARPS) {
        // TODO 1: this lane's four codes of the key's row, in one load. The cache is [sequence][key][key head][D].
        const long long row = 0;
        const uint32_t codes = *(const uint32_t*)(k_codes + row * D + 4 * lane);
        float k[4];
        for (int e = 0; e < 4; e++) {
            k[e] = from_e4m3(codes >> 8 * e & 255);
        }
        // TODO 2: the score of every head of the group, summed over the warp, times factor. Lane 0 stores it in weights[h][key].
        weights[0][key] = mine[0][0] * k[0] * factor;
    }
    __syncthreads();

    // Softmax of each head over the keys of this split.
    for (int h = warp; h < group; h += WARPS) {
        float most = -INFINITY, sum = 0.0f;
        // TODO 3: the largest score of the head in this split, then weights[h][key] = expf(score - most) and their sum.

        if (lane == 0) {
            totals[h] = sum;
            partial_lse[slot + h] = most + logf(sum);
        }
    }
    __syncthreads();

    // Values: a warp has a key, a lane four elements, for all query heads.
    float o[MOST_GROUP][4] = {};
    for (int key = warp; key < count; key += WARPS) {
        const long long row = ((long long)sequence * capacity + first + key) * key_heads + key_head;
        // TODO 4: this lane's four codes are two bytes, the even element in the low nibble. Element 4 * lane belongs to block
        // 4 * lane / 16 of the row's 8 scales. Add weights[h][key] * value to o[h][e] for every head of the group.
        o[0][0] += weights[0][key] * v_codes[row * (D / 2) + 2 * lane];
    }
#pragma unroll
    for (int h = 0; h < MOST_GROUP; h++) {
        if (h < group) {
            *(float4*)&sums[warp][h][4 * lane] = make_float4(o[h][0], o[h][1], o[h][2], o[h][3]);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < group * D; i += THREADS) {
        const int h = i / D, e = i % D;
        float sum = 0.0f;
        for (int w = 0; w < WARPS; w++) {
            sum += sums[w][h][e];
        }
        partial[(slot + h) * D + e] = sum / totals[h] * *v_scale;
    }
}

extern "C" __global__ void decode_merge(const float* partial, const float* partial_lse, const int* lengths, float* out, float* lse,
                                        int batch, int heads, int key_heads, int capacity)
{
    const int head = blockIdx.x, sequence = blockIdx.y, e = threadIdx.x;
    const int splits = ceil_div(lengths[sequence], KEYS);  // of this sequence; later splits were not written
    // TODO 5: merge the splits' results. Each is an average of values for its own keys; its weight is the sum of its
    // exponentials, and that is exp(lse). Subtract the largest lse first.
    float most = -INFINITY, sum = 0.0f, total = 1.0f;

    const long long row = (long long)sequence * heads + head;
    out[row * D + e] = sum / total;
    if (e == 0) {
        lse[row] = most + logf(total);
    }
}

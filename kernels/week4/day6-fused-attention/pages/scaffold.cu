#include "lab.cuh"

// Decode attention over a cache in pages. One block has one query head of one sequence.
extern "C" __global__ void decode_pages(const float* q, const float* k, const float* v, const int* page_table, const int* lengths,
                                        float* out, int heads, int key_heads, int page_size, int most_pages)
{
    extern __shared__ float weights[];
    __shared__ float total;
    const int head = blockIdx.x, sequence = blockIdx.y, thread = threadIdx.x;
    const int key_head = head / (heads / key_heads), length = lengths[sequence];
    const float* query = q + (sequence * heads + head) * 64;

    // The row of a key in the pool of pages.
    const auto row_of = [&](int key) {
        // TODO: page_table has most_pages entries for each sequence. Entry key / page_size says which page of the pool the key is on;
        // a page has page_size places, and a place key_heads rows.
        return (long long)key * key_heads + key_head;
    };

    for (int key = thread; key < length; key += 64) {
        const float* row = k + row_of(key) * 64;
        float score = 0.0f;
        for (int i = 0; i < 64; i++) {
            score += query[i] * row[i];
        }
        weights[key] = score / 8.0f;
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
    float sum = 0.0f;
    for (int key = 0; key < length; key++) {
        sum += weights[key] * v[row_of(key) * 64 + thread];
    }
    out[(sequence * heads + head) * 64 + thread] = sum / total;
}

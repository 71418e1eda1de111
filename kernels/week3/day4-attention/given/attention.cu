#include "lab.cuh"

// The parts of attention that this exercise is not about: plain, and in place. `scores` is [heads][queries][keys].
__device__ float dot(const float* a, const float* b, int d)
{
    float sum = 0.0f;
    for (int i = 0; i < d; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

// Query times key, divided by `divisor`.
__device__ void scores_of(const float* q, const float* k, float* scores, int heads, int key_heads, int queries, int keys, int d,
                          float divisor)
{
    const int key = blockIdx.x * blockDim.x + threadIdx.x, query = blockIdx.y * blockDim.y + threadIdx.y, head = blockIdx.z;
    if (key < keys && query < queries) {
        const int key_head = head / (heads / key_heads);
        scores[(head * queries + query) * keys + key] =
            dot(q + (head * queries + query) * d, k + (key_head * keys + key) * d, d) / divisor;
    }
}

extern "C" __global__ void raw_scores(const float* q, const float* k, float* scores, int heads, int key_heads, int queries, int keys,
                                      int d)
{
    scores_of(q, k, scores, heads, key_heads, queries, keys, d, 1.0f);
}

extern "C" __global__ void scaled_scores(const float* q, const float* k, float* scores, int heads, int key_heads, int queries,
                                         int keys, int d)
{
    scores_of(q, k, scores, heads, key_heads, queries, keys, d, sqrtf(d));
}

// One warp a row. (`causal` is for the float64 reference: the mask is in the scores already.)
extern "C" __global__ void softmax_in_place(float* scores, int keys, int causal)
{
    //@ in-place
    float* row = scores + blockIdx.x * keys;
    float most = -INFINITY, sum = 0.0f;
    for (int key = threadIdx.x; key < keys; key += 32) {
        most = fmaxf(most, row[key]);
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        most = fmaxf(most, __shfl_xor_sync(FULL_MASK, most, distance));
    }
    for (int key = threadIdx.x; key < keys; key += 32) {
        sum += expf(row[key] - most);
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(FULL_MASK, sum, distance);
    }
    for (int key = threadIdx.x; key < keys; key += 32) {
        row[key] = expf(row[key] - most) / sum;
    }
    //@ end
}

extern "C" __global__ void output_of(const float* weights, const float* v, float* out, int heads, int key_heads, int queries, int keys,
                                     int d)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x, query = blockIdx.y * blockDim.y + threadIdx.y, head = blockIdx.z;
    if (column < d && query < queries) {
        const int key_head = head / (heads / key_heads);
        float sum = 0.0f;
        for (int key = 0; key < keys; key++) {
            sum += weights[(head * queries + query) * keys + key] * v[(key_head * keys + key) * d + column];
        }
        out[(head * queries + query) * d + column] = sum;
    }
}

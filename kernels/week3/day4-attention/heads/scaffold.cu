#include "lab.cuh"

// Scaled scores of every head of q with its head of k.
extern "C" __global__ void grouped_scores(const float* q, const float* k, float* scores, int heads, int key_heads, int queries,
                                          int keys, int d)
{
    const int key = blockIdx.x * blockDim.x + threadIdx.x, query = blockIdx.y * blockDim.y + threadIdx.y, head = blockIdx.z;
    if (key < keys && query < queries) {
        // TODO: neighboring heads of q share a head of k.
        const int key_head = 0;
        const float* q_row = q + (head * queries + query) * d;
        const float* k_row = k + (key_head * keys + key) * d;
        float score = 0.0f;
        for (int i = 0; i < d; i++) {
            score += q_row[i] * k_row[i];
        }
        scores[(head * queries + query) * keys + key] = score / sqrtf(d);
    }
}

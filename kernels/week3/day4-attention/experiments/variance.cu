#include "lab.cuh"

// Scores of 16 queries and 256 keys of length d, all of them normal random numbers. Thread t does key t, and prints what it finds.
extern "C" __global__ void variance(const float* q, const float* k, float* scores, int queries, int keys, int d)
{
    __shared__ float row[256];
    float squares = 0.0f, largest = 0.0f, largest_scaled = 0.0f;
    for (int query = 0; query < queries; query++) {
        float score = 0.0f;
        for (int i = 0; i < d; i++) {
            score += q[query * d + i] * k[threadIdx.x * d + i];
        }
        scores[query * keys + threadIdx.x] = score;
        row[threadIdx.x] = score;
        __syncthreads();
        if (threadIdx.x == 0) {
            //@ measure
            float most = row[0], sum = 0.0f, sum_scaled = 0.0f;
            for (int key = 0; key < keys; key++) {
                squares += row[key] * row[key];
                most = fmaxf(most, row[key]);
            }
            for (int key = 0; key < keys; key++) {
                sum += expf(row[key] - most);
                sum_scaled += expf((row[key] - most) / sqrtf(d));
            }
            largest += 1.0f / sum;                // the largest weight of this query
            largest_scaled += 1.0f / sum_scaled;
            //@ end
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        printf("d = %4d: variance %6.1f, largest weight %.2f; divided by sqrt(d): variance %.2f, largest weight %.2f\n", d,
               squares / (queries * keys), largest / queries, squares / (queries * keys * d), largest_scaled / queries);
    }
}

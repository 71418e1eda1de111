// Two sums, even and odd places.
#include "lab.cuh"

// y[bag] = the sum of the rows of the table that are in the bag, a block a bag.
extern "C" __global__ void pool_bags(
    const float* table, const int* offsets, const int* ids, float* y, int bags, int d)
{
    const int bag = blockIdx.x;
    const int begin = offsets[bag];
    const int end = offsets[bag + 1];

    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        float sum = 0.0f;
        float other = 0.0f;
        int k = begin;
        for (; k + 1 < end; k += 2) {
            sum += table[(long long)ids[k] * d + c];
            other += table[(long long)ids[k + 1] * d + c];
        }
        if (k < end) {
            sum += table[(long long)ids[k] * d + c];
        }
        sum += other;
        y[(long long)bag * d + c] = sum;
    }
}

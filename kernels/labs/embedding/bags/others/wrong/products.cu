// Multiplies.
// rejected for: wrong_output
// leads to: all wrong ones are 0
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
        for (int k = begin; k < end; k++) {
            sum *= table[(long long)ids[k] * d + c];
        }
        y[(long long)bag * d + c] = sum;
    }
}

// Ids go through shared memory, 32 at a time.
#include "lab.cuh"

// y[bag] = the sum of the rows of the table that are in the bag, a block a bag.
extern "C" __global__ void pool_bags(
    const float* table, const int* offsets, const int* ids, float* y, int bags, int d)
{
    const int bag = blockIdx.x;
    const int begin = offsets[bag];
    const int end = offsets[bag + 1];

    __shared__ int part[32];
    for (int first = 0; first < d; first += blockDim.x) {
        const int c = first + threadIdx.x;
        float sum = 0.0f;
        for (int k = begin; k < end; k += 32) {
            __syncthreads();
            if (threadIdx.x < 32 && k + threadIdx.x < end) {
                part[threadIdx.x] = ids[k + threadIdx.x];
            }
            __syncthreads();
            for (int j = 0; j < 32 && k + j < end && c < d; j++) {
                sum += table[(long long)part[j] * d + c];
            }
        }
        if (c < d) {
            y[(long long)bag * d + c] = sum;
        }
    }
}

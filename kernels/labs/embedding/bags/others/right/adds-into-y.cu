#include "lab.cuh"

// The sum is kept in memory.
// does not reach: A sum in a register
extern "C" __global__ void pool_bags(
    const float* table, const int* offsets, const int* ids, float* y, int bags, int d)
{
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        volatile float* at = y + (long long)blockIdx.x * d + c;
        *at = 0.0f;
        for (int k = offsets[blockIdx.x]; k < offsets[blockIdx.x + 1]; k++) {
            *at = *at + table[(long long)ids[k] * d + c];
        }
    }
}

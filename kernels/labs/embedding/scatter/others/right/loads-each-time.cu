#include "lab.cuh"

// Ids outside, columns inside: g is loaded again for each id.
// does not reach: Each gradient loaded once
extern "C" __global__ void scatter_gradient(
    const float* g, const int* offsets, const int* ids, float* gradient, int bags, int d)
{
    const int bag = blockIdx.x;
    for (int k = offsets[bag]; k < offsets[bag + 1]; k++) {
        for (int c = threadIdx.x; c < d; c += blockDim.x) {
            atomicAdd(gradient + (long long)ids[k] * d + c, g[(long long)bag * d + c]);
        }
    }
}

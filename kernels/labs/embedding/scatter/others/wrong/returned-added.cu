// Reads with an atomic and stores without one.
// rejected for: race
// leads to: a load, an addition and a store
#include "lab.cuh"
extern "C" __global__ void scatter_gradient(const float* g, const int* offsets, const int* ids, float* gradient, int bags, int d)
{
    const int bag = blockIdx.x;
    const int begin = offsets[bag], end = offsets[bag + 1];
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        const float mine = g[(long long)bag * d + c];
        for (int k = begin; k < end; k++) { float* at = &gradient[(long long)ids[k] * d + c]; *at = atomicAdd(at, 0.0f) + mine; }
    }
}

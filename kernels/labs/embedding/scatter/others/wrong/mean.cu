// Divides by the number of ids.
// rejected for: wrong_output
// leads to: not divided
#include "lab.cuh"
extern "C" __global__ void scatter_gradient(const float* g, const int* offsets, const int* ids, float* gradient, int bags, int d)
{
    const int bag = blockIdx.x;
    const int begin = offsets[bag], end = offsets[bag + 1];
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        const float mine = g[(long long)bag * d + c] / (end - begin);
        for (int k = begin; k < end; k++) atomicAdd(&gradient[(long long)ids[k] * d + c], mine);
    }
}

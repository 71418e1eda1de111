// Leaves out the last id of each bag.
// rejected for: wrong_output
// leads to: does the loop take every k
#include "lab.cuh"
extern "C" __global__ void scatter_gradient(const float* g, const int* offsets, const int* ids, float* gradient, int bags, int d)
{
    const int bag = blockIdx.x;
    const int begin = offsets[bag], end = offsets[bag + 1];
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        const float mine = g[(long long)bag * d + c];
        for (int k = begin; k < end - 1; k++) atomicAdd(&gradient[(long long)ids[k] * d + c], mine);
    }
}

// Leaves out the loop over the columns.
// rejected for: wrong_output
// leads to: d can be larger than the block
#include "lab.cuh"
extern "C" __global__ void scatter_gradient(const float* g, const int* offsets, const int* ids, float* gradient, int bags, int d)
{
    const int bag = blockIdx.x;
    const int begin = offsets[bag], end = offsets[bag + 1];
    const int c = threadIdx.x;
    if (c < d) {
        const float mine = g[(long long)bag * d + c];
        for (int k = begin; k < end; k++) atomicAdd(&gradient[(long long)ids[k] * d + c], mine);
    }
}

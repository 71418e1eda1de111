// Takes the place in the list for the id.
// rejected for: out_of_bounds
// leads to: the row is ids[k], not k
#include "lab.cuh"
extern "C" __global__ void scatter_gradient(const float* g, const int* offsets, const int* ids, float* gradient, int bags, int d)
{
    const int bag = blockIdx.x;
    const int begin = offsets[bag], end = offsets[bag + 1];
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        const float mine = g[(long long)bag * d + c];
        for (int k = begin; k < end; k++) atomicAdd(&gradient[(long long)k * d + c], mine);
    }
}

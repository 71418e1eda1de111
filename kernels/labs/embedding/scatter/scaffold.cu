#include "lab.cuh"

// gradient[id] += g[bag] for every id in every bag. Bag b holds ids[offsets[b]] to just before ids[offsets[b + 1]].
// `gradient` is zero before the run. One block does one bag.
extern "C" __global__ void scatter_gradient(
    const float* g, const int* offsets, const int* ids, float* gradient, int bags, int d)
{
    const int bag = blockIdx.x;
    const int begin = offsets[bag];
    const int end = offsets[bag + 1];

    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        const float mine = g[(long long)bag * d + c];
        for (int k = begin; k < end; k++) {
            // TODO: other blocks add to the same row at the same time. What is missing?
            gradient[(long long)ids[k] * d + c] += mine;
        }
    }
}

// A warp takes every fourth id of the bag.
#include "lab.cuh"
extern "C" __global__ void scatter_gradient(const float* g, const int* offsets, const int* ids, float* gradient, int bags, int d)
{
    const int bag = blockIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int k = offsets[bag] + warp; k < offsets[bag + 1]; k += blockDim.x / 32)
        for (int c = lane; c < d; c += 32) atomicAdd(gradient + (size_t)ids[k] * d + c, g[(size_t)bag * d + c]);
}

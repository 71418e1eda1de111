
#include "lab.cuh"

// gradient[id] += g[bag] for every id in every bag, atomically, with g in a register.
extern "C" __global__ void scatter_gradient(
    const float* g, const int* offsets, const int* ids, float* gradient, int bags, int d)
{
    const int bag = blockIdx.x;
    const int begin = offsets[bag];
    const int end = offsets[bag + 1];

    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        //@ add
        const float mine = g[(long long)bag * d + c];
        for (int k = begin; k < end; k++) {
            gradient[(long long)ids[k] * d + c] += mine;
        }
        //@ end
    }
}

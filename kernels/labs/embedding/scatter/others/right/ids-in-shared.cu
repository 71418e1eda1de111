// Ids go through shared memory, 128 at a time.
#include "lab.cuh"
extern "C" __global__ void scatter_gradient(const float* g, const int* offsets, const int* ids, float* gradient, int bags, int d)
{
    __shared__ int list[128];
    const int bag = blockIdx.x, end = offsets[bag + 1];
    for (int first = offsets[bag]; first < end; first += 128) {
        const int many = min(128, end - first);
        __syncthreads();
        if (threadIdx.x < many) list[threadIdx.x] = ids[first + threadIdx.x];
        __syncthreads();
        for (int c = threadIdx.x; c < d; c += blockDim.x)
            for (int k = 0; k < many; k++) atomicAdd(&gradient[(long long)list[k] * d + c], g[(long long)bag * d + c]);
    }
}

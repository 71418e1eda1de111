// The index from warp and lane.
#include "lab.cuh"

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int i = (blockIdx.x * (blockDim.x / 32) + warp) * 32 + lane;

    // The grid is rounded up to whole blocks: the last threads may have no element.
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

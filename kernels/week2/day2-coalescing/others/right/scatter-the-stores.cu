// Coalesced loads, scattered stores: one thread a float.
// does not reach: Whole sectors both ways
#include "lab.cuh"
// lockstep: grid = ceil_div(3 * n, block_x)
extern "C" __global__ void aos_to_soa(const float* points, float* soa, int n)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < 3 * n) {
        soa[e % 3 * n + e / 3] = points[e];
    }
}

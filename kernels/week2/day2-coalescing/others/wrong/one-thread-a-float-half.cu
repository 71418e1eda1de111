// One thread a float, in a grid that was made for points.
// rejected for: never_written
// leads to: fewer blocks than needed
#include "lab.cuh"
extern "C" __global__ void aos_to_soa(const float* points, float* soa, int n)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < 3 * n) soa[e % 3 * n + e / 3] = points[e];
}

// Believes a record to be four floats apart.
// rejected for: out_of_bounds
// leads to: `points` has 3 * n floats
#include "lab.cuh"
extern "C" __global__ void aos_to_soa(const float* points, float* soa, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        for (int f = 0; f < 3; f++) soa[f * n + i] = points[4 * i + f];
    }
}

// Stores at 3 * p + f.
// rejected for: transposed_output
// leads to: soa[f * n + p]
#include "lab.cuh"
extern "C" __global__ void aos_to_soa(const float* points, float* soa, int n)
{
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p < n) {
        for (int f = 0; f < 3; f++) soa[3 * p + f] = points[3 * p + f];
    }
}

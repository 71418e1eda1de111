// Reads a point as a float4, the last component being unused.
// rejected for: out_of_bounds
// leads to: A pointer to `float4` counts in steps
#include "lab.cuh"
extern "C" __global__ void aos_to_soa(const float* points, float* soa, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float4 v = *reinterpret_cast<const float4*>(points + 3 * i);
        soa[i] = v.x;
        soa[n + i] = v.y;
        soa[2 * n + i] = v.z;
    }
}

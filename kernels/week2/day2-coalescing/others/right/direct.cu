// Loads each field where it is. Right, and 12 sectors where 4 would do.
// does not reach: Whole sectors both ways
#include "lab.cuh"
extern "C" __global__ void aos_to_soa(const float* points, float* soa, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        soa[i] = points[3 * i];
        soa[n + i] = points[3 * i + 1];
        soa[2 * n + i] = points[3 * i + 2];
    }
}

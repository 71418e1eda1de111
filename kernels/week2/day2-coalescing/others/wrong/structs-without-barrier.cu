// Loads a struct each, and stores floats of others without a barrier.
// rejected for: race
// leads to: no barrier
#include "lab.cuh"
// lockstep: block = POINTS
// lockstep: grid = ceil_div(n, POINTS)
#define POINTS 256
extern "C" __global__ void aos_to_soa(const float3* points, float* soa, int n)
{
    __shared__ float3 chunk[POINTS];
    int i = blockIdx.x * POINTS + threadIdx.x;
    if (i < n) chunk[threadIdx.x] = points[i];
    const float* flat = &chunk[0].x;
    int block_points = min(POINTS, n - (int)blockIdx.x * POINTS);
    for (int e = threadIdx.x; e < 3 * block_points; e += POINTS)
        soa[(e % 3) * n + blockIdx.x * POINTS + e / 3] = flat[e];
}

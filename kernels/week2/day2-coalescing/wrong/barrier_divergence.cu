#include "lab.cuh"

// lockstep: block = POINTS
// lockstep: grid = ceil_div(n, POINTS)
#define POINTS 256
#define FIELDS 3

extern "C" __global__ void aos_to_soa(const float* points, float* soa, int n)
{
    __shared__ float chunk[FIELDS * POINTS];
    const int first = blockIdx.x * POINTS;
    const int t = threadIdx.x;
    if (first + t >= n) {
        return;
    }

    for (int field = 0; field < FIELDS; field++) {
        chunk[FIELDS * t + field] = points[FIELDS * (first + t) + field];
    }

    __syncthreads();

    for (int field = 0; field < FIELDS; field++) {
        soa[field * n + first + t] = chunk[FIELDS * t + field];
    }
}

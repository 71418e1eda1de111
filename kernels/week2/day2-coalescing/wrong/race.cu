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

    for (int round = 0; round < FIELDS; round++) {
        const int place = round * POINTS + t;
        if (FIELDS * first + place < FIELDS * n) {
            chunk[place] = points[FIELDS * first + place];
        }
    }

    if (first + t < n) {
        for (int field = 0; field < FIELDS; field++) {
            soa[field * n + first + t] = chunk[FIELDS * t + field];
        }
    }
}

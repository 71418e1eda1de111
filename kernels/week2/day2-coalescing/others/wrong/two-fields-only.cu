// Forgets z.
// rejected for: tail_missing
// leads to: Are all FIELDS fields stored?
#include "lab.cuh"
// lockstep: block = POINTS
// lockstep: grid = ceil_div(n, POINTS)
#define POINTS 256
extern "C" __global__ void aos_to_soa(const float* points, float* soa, int n)
{
    __shared__ float chunk[3 * POINTS];
    const int first = blockIdx.x * POINTS, t = threadIdx.x;
    for (int r = 0; r < 3; r++) {
        const int k = r * POINTS + t;
        if (3 * first + k < 3 * n) chunk[k] = points[3 * first + k];
    }
    __syncthreads();
    if (first + t < n) {
        soa[first + t] = chunk[3 * t];
        soa[n + first + t] = chunk[3 * t + 1];
    }
}

// Uses the global place as the place in the chunk.
// rejected for: out_of_bounds
// leads to: If it is `chunk`
#include "lab.cuh"
// lockstep: block = POINTS
// lockstep: grid = ceil_div(n, POINTS)
#define POINTS 256
extern "C" __global__ void aos_to_soa(const float* points, float* soa, int n)
{
    __shared__ float chunk[3 * POINTS];
    const int first = blockIdx.x * POINTS, t = threadIdx.x;
    for (int r = 0; r < 3; r++) {
        const int k = 3 * first + r * POINTS + t;
        if (k < 3 * n) chunk[k] = points[k];
    }
    __syncthreads();
    if (first + t < n) {
        for (int f = 0; f < 3; f++) soa[f * n + first + t] = chunk[3 * t + f];
    }
}

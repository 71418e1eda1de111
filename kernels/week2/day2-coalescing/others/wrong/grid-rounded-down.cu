// Launches whole blocks only.
// rejected for: never_written
// leads to: was never written
#include "lab.cuh"
// lockstep: block = POINTS
// lockstep: grid = max(1, n / POINTS)
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
        for (int f = 0; f < 3; f++) soa[f * n + first + t] = chunk[3 * t + f];
    }
}

// Casts to a struct and copies one field three times.
// rejected for: moved_output
// leads to: belongs to soa[1][0]
#include "lab.cuh"
// lockstep: block = POINTS
// lockstep: grid = ceil_div(n, POINTS)
#define POINTS 256
extern "C" __global__ void aos_to_soa(const float* points, float* soa, int n)
{
    struct Point { float x, y, z; };
    const Point* p = reinterpret_cast<const Point*>(points);
    const int first = blockIdx.x * POINTS, t = threadIdx.x;


    if (first + t < n) {
        soa[first + t] = p[first + t].x;
        soa[n + first + t] = p[first + t].y;
        soa[2 * n + first + t] = p[first + t].y;
    }
}

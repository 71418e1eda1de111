// Structs in shared memory, filled as floats; a block of 32 x 4.
#include "lab.cuh"
struct P { float x, y, z; };
// lockstep: block = 32, 4
// lockstep: grid = ceil_div(n, 128)
extern "C" __global__ void aos_to_soa(const float *points, float *soa, int n)
{
    __shared__ P s[128];
    const int t = threadIdx.y * 32 + threadIdx.x, first = blockIdx.x * 128;
    float *flat = &s[0].x;
    for (int r = 0; r < 3; r++) {
        int e = first * 3 + r * 128 + t;
        if (e < 3 * n) flat[r * 128 + t] = points[e];
    }
    __syncthreads();
    if (first + t >= n) return;
    P p = s[t];
    soa[first + t] = p.x;
    soa[n + first + t] = p.y;
    soa[2 * n + first + t] = p.z;
}

// Expects the other lane to choose the register that this lane names.
// rejected for: moved_output
// leads to: where it is now, and where it belongs
#include "lab.cuh"
// lockstep: block = 128
// lockstep: grid = ceil_div(n, 128)
extern "C" __global__ void aos_to_soa(const float *points, float *soa, int n)
{
    const int lane = threadIdx.x & 31, first = blockIdx.x * 128 + (threadIdx.x & ~31);
    float v[3];
    for (int r = 0; r < 3; r++) {
        int e = 3 * first + 32 * r + lane;
        v[r] = e < 3 * n ? points[e] : 0.0f;
    }
    for (int f = 0; f < 3; f++) {
        int want = 3 * lane + f;
        float x = __shfl_sync(FULL_MASK, v[want / 32], want % 32);
        if (first + lane < n) soa[f * n + first + lane] = x;
    }
}

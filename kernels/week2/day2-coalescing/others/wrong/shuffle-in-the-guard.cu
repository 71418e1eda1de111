// Shuffles among the lanes that own a point.
// rejected for: mask_misuse
// leads to: outside of any `if`
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
    if (first + lane < n)
        for (int f = 0; f < 3; f++) {
            int want = 3 * lane + f;
            float a = __shfl_sync(FULL_MASK, v[0], want & 31), b = __shfl_sync(FULL_MASK, v[1], want & 31), c = __shfl_sync(FULL_MASK, v[2], want & 31);
            soa[f * n + first + lane] = want < 32 ? a : want < 64 ? b : c;
        }
}

// No shared memory: 96 floats in three registers of each lane, sorted by shuffles.
#include "lab.cuh"
extern "C" __global__ void aos_to_soa(const float* points, float* soa, int n)
{
    const int lane = threadIdx.x % 32;
    const int p0 = blockIdx.x * blockDim.x + threadIdx.x - lane;
    float r[3];
    for (int k = 0; k < 3; ++k) {
        const int e = 3 * p0 + 32 * k + lane;
        r[k] = e < 3 * n ? points[e] : 0.0f;
    }
    for (int f = 0; f < 3; ++f) {
        const int want = 3 * lane + f;  // which of the 96
        const float a = __shfl_sync(FULL_MASK, r[0], want % 32);
        const float b = __shfl_sync(FULL_MASK, r[1], want % 32);
        const float c = __shfl_sync(FULL_MASK, r[2], want % 32);
        const float out = want < 32 ? a : want < 64 ? b : c;
        if (p0 + lane < n) soa[f * n + p0 + lane] = out;
    }
}

// Each warp stages its own 96 floats and needs no block-wide barrier.
#include "lab.cuh"
extern "C" __global__ void aos_to_soa(const float* points, float* soa, int n)
{
    __shared__ float all[8][96];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    float* mine = all[warp];
    const int p0 = (blockIdx.x * 8 + warp) * 32;
    for (int r = 0; r < 3; ++r) {
        const int e = 32 * r + lane;
        mine[e] = p0 * 3 + e < 3 * n ? points[p0 * 3 + e] : 0.0f;
    }
    __syncwarp();
    if (p0 + lane < n) {
        for (int f = 0; f < 3; ++f) soa[f * n + p0 + lane] = mine[3 * lane + f];
    }
}

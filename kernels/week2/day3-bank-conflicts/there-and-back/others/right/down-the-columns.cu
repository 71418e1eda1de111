// Stores down a column of the tile: right, and all 32 lanes use one bank.
// does not reach: Without a conflict
#include "lab.cuh"

extern "C" __global__ void copy(const float* x, float* y, int n)
{
    __shared__ float tile[32][32];
    const int lane = threadIdx.x, r = threadIdx.y;
    const int i = blockIdx.x * 1024 + 32 * r + lane;
    if (i < n) {
        tile[lane][r] = x[i];
        y[i] = tile[lane][r];
    }
}

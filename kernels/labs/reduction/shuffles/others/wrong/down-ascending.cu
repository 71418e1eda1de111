// Replaces the value in place of adding to it.
// rejected for: wrong_output
// leads to: add what it fetches
#include "lab.cuh"

// The sum of a warp's 32 values, in lane 0.
__device__ float warp_sum(float value)
{
    for (int d = 1; d <= 16; d *= 2) value = __shfl_down_sync(FULL_MASK, value, d);
    return value;
}

// y[0] = the sum of x, by one block of 256 threads: eight warps.
extern "C" __global__ void sum(const float* x, float* y, int n)
{
    __shared__ float part[8];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float mine = 0.0f;
    for (int i = threadIdx.x; i < n; i += 256) {
        mine += x[i];
    }
    mine = warp_sum(mine);
    if (lane == 0) {
        part[warp] = mine;
    }
    __syncthreads();
    if (warp == 0) {
        mine = warp_sum(lane < 8 ? part[lane] : 0.0f);
        if (lane == 0) {
            y[0] = mine;
        }
    }
}

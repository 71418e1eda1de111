// Reads 32 partial sums where eight warps wrote.
// rejected for: uninitialised
// leads to: as many as there are warps
#include "lab.cuh"
// lockstep: block = 256
// lockstep: grid = rows
extern "C" __global__ void row_sums(const float *x, float *y, int rows, int columns)
{
    __shared__ float part[32];
    float s = 0;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) s += x[blockIdx.x * columns + c];
    for (int d = 16; d; d /= 2) s += __shfl_down_sync(FULL_MASK, s, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x < 32) {
        s = part[threadIdx.x];
        for (int d = 16; d; d /= 2) s += __shfl_down_sync(FULL_MASK, s, d);
        if (threadIdx.x == 0) y[blockIdx.x] = s;
    }
}

// __shfl_xor_sync, so that every lane has the sum; the last lane stores.
#include "lab.cuh"
// lockstep: block = 32 * WARPS
// lockstep: grid = ceil_div(rows, WARPS)
#define WARPS 8
extern "C" __global__ void row_sums(const float* x, float* y, int rows, int columns)
{
    const unsigned lane = threadIdx.x & 31u;
    const int row = blockIdx.x * WARPS + (threadIdx.x >> 5);
    if (row < rows) {
        const float* from = x + (long long)row * columns;
        float s = 0.f;
        for (unsigned c = lane; c < (unsigned)columns; c += 32) s += from[c];
        #pragma unroll
        for (int m = 1; m < 32; m <<= 1) s += __shfl_xor_sync(0xffffffffu, s, m);
        if (lane == 31) y[row] = s;
    }
}

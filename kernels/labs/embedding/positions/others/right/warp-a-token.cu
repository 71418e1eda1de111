// A warp for each token.
#include "lab.cuh"
// lockstep: embed.grid = ceil_div(sequences * length, 8)
// lockstep: embed.block = 256
extern "C" __global__ void embed(const float* table, const int* ids, const float* positions, float* x, int sequences, int length, int d)
{
    const int lane = threadIdx.x % 32;
    for (int token = blockIdx.x * 8 + threadIdx.x / 32; token < sequences * length; token += gridDim.x * 8)
        for (int c = lane; c < d; c += 32) x[(long long)token * d + c] = table[(long long)ids[token] * d + c] + positions[(token % length) * d + c];
}

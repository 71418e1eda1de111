// A grid of places by sequences.
#include "lab.cuh"
// lockstep: embed.grid = length, sequences
// lockstep: embed.block = 64
extern "C" __global__ void embed(const float* table, const int* ids, const float* positions, float* x, int sequences, int length, int d)
{
    const int s = blockIdx.y, p = blockIdx.x;
    const int token = s * length + p;
    const float* from = table + (size_t)ids[token] * d;
    for (int c = threadIdx.x; c < d; c += blockDim.x) x[(size_t)token * d + c] = from[c] + positions[p * d + c];
}

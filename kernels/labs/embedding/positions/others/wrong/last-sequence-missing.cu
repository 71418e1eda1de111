// Loops over all sequences but the last.
// rejected for: wrong_output
// leads to: does it for every sequence
#include "lab.cuh"
// lockstep: embed.grid = length
extern "C" __global__ void embed(const float* table, const int* ids, const float* positions, float* x, int sequences, int length, int d)
{
    const int place = blockIdx.x;
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        const float p = positions[place * d + c];
        for (int s = 0; s < sequences - 1; s++)
            x[(long long)(s * length + place) * d + c] = p + table[(long long)ids[s * length + place] * d + c];
    }
}

// Takes the ids of the first sequence for all of them.
// rejected for: wrong_output
// leads to: ids[s * length + p]
#include "lab.cuh"
// lockstep: embed.grid = length
extern "C" __global__ void embed(const float* table, const int* ids, const float* positions, float* x, int sequences, int length, int d)
{
    const int place = blockIdx.x;
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        const float p = positions[place * d + c];
        for (int s = 0; s < sequences; s++)
            x[(long long)(s * length + place) * d + c] = p + table[(long long)ids[place] * d + c];
    }
}

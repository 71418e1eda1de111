// Counts places from one.
// rejected for: wrong_output
// leads to: counted from 0
#include "lab.cuh"
extern "C" __global__ void embed(const float* table, const int* ids, const float* positions, float* x, int sequences, int length, int d)
{
    const int token = blockIdx.x, place = (token % length + 1) % length;
    const long long row = ids[token];
    for (int c = threadIdx.x; c < d; c += blockDim.x)
        x[(long long)token * d + c] = table[row * d + c] + positions[(long long)place * d + c];
}

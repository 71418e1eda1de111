// Leaves out the loop over the columns.
// rejected for: wrong_output
// leads to: A row can be longer than a block
#include "lab.cuh"
extern "C" __global__ void embed(const float* table, const int* ids, const float* positions, float* x, int sequences, int length, int d)
{
    const int token = blockIdx.x, place = token % length;
    const long long row = ids[token];
    const int c = threadIdx.x;
    if (c < d)
        x[(long long)token * d + c] = table[row * d + c] + positions[(long long)place * d + c];
}

#include "lab.cuh"
#include <cuda_fp16.h>

// Each thread copies a whole row.
// does not reach: Whole sectors
// lockstep: block = 128
// lockstep: grid = ceil_div(tokens, block_x)
extern "C" __global__ void gather_rows(const __half* table, const int* ids, __half* y, int tokens, int d)
{
    const int token = blockIdx.x * blockDim.x + threadIdx.x;
    if (token >= tokens) {
        return;
    }
    //@ loop
    const long long row = ids[token];
    for (int column = 0; column < d; column++) {
        y[(long long)token * d + column] = table[row * d + column];
    }
    //@ end
}

// One warp a row, four to a block.
// does not reach: Nine tenths of a copy
#include "lab.cuh"
#include <cuda_fp16.h>

// lockstep: block = 128
// lockstep: grid = ceil_div(tokens, 4)
extern "C" __global__ void gather_rows(const __half* table, const int* ids, __half* y, int tokens, int d)
{
    const int t = blockIdx.x * 4 + (threadIdx.x >> 5);
    if (t >= tokens) return;
    const long long from = (long long)ids[t] * d;
    for (int c = threadIdx.x & 31; c < d; c += 32) y[(long long)t * d + c] = table[from + c];
}

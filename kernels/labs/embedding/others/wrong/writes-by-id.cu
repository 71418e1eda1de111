// Reads row t and writes to row ids[t].
// rejected for: out_of_bounds
// leads to: How many elements has it
#include "lab.cuh"
#include <cuda_fp16.h>

extern "C" __global__ void gather_rows(const __half* table, const int* ids, __half* y, int tokens, int d)
{
    const int t = blockIdx.x;
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        y[(long long)ids[t] * d + c] = table[(long long)t * d + c];
    }
}

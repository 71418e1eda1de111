// Rows are believed to be as wide as the block.
// rejected for: out_of_bounds
// leads to: the index
#include "lab.cuh"
#include <cuda_fp16.h>

extern "C" __global__ void gather_rows(const __half* table, const int* ids, __half* y, int tokens, int d)
{
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        y[(long long)blockIdx.x * blockDim.x + c] = table[(long long)ids[blockIdx.x] * blockDim.x + c];
    }
}

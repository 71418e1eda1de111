// Takes the id of the thread in place of the block.
// rejected for: out_of_bounds
// leads to: the index
#include "lab.cuh"
#include <cuda_fp16.h>

extern "C" __global__ void gather_rows(const __half* table, const int* ids, __half* y, int tokens, int d)
{
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        y[(long long)blockIdx.x * d + c] = table[(long long)ids[threadIdx.x] * d + c];
    }
}

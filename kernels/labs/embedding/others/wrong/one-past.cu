// The loop ends one column too late.
// rejected for: out_of_bounds
// leads to: does the column stop at d
#include "lab.cuh"
#include <cuda_fp16.h>

extern "C" __global__ void gather_rows(const __half* table, const int* ids, __half* y, int tokens, int d)
{
    for (int c = threadIdx.x; c <= d; c += blockDim.x) {
        y[(long long)blockIdx.x * d + c] = table[(long long)ids[blockIdx.x] * d + c];
    }
}

// The output row is missing.
// rejected for: race
// leads to: Two threads store to the same place
#include "lab.cuh"
#include <cuda_fp16.h>

extern "C" __global__ void gather_rows(const __half* table, const int* ids, __half* y, int tokens, int d)
{
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        y[c] = table[(long long)ids[blockIdx.x] * d + c];
    }
}

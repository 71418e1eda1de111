// Keeps the id in 16 bits.
// rejected for: wrong_output
// leads to: row
#include "lab.cuh"
#include <cuda_fp16.h>

extern "C" __global__ void gather_rows(const __half* table, const int* ids, __half* y, int tokens, int d)
{
    const unsigned short id = ids[blockIdx.x];
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        y[(long long)blockIdx.x * d + c] = table[(long long)id * d + c];
    }
}

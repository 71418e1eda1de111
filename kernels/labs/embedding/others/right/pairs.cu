// Two elements at once where rows allow it.
// does not reach: Nine tenths of a copy
#include "lab.cuh"
#include <cuda_fp16.h>

extern "C" __global__ void gather_rows(const __half* table, const int* ids, __half* y, int tokens, int d)
{
    const __half* from = table + (long long)ids[blockIdx.x] * d;
    __half* to = y + (long long)blockIdx.x * d;
    if (d % 2 == 0) {
        for (int c = threadIdx.x; 2 * c < d; c += blockDim.x) {
            ((__half2*)to)[c] = ((const __half2*)from)[c];
        }
        return;
    }
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        to[c] = from[c];
    }
}

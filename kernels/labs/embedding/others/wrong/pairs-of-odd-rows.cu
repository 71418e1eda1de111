// Two elements at once, whatever d is.
// rejected for: misaligned
// leads to: multiple of 4 or 16
#include "lab.cuh"
#include <cuda_fp16.h>

extern "C" __global__ void gather_rows(const __half* table, const int* ids, __half* y, int tokens, int d)
{
    const __half2* from = (const __half2*)(table + (long long)ids[blockIdx.x] * d);
    __half2* to = (__half2*)(y + (long long)blockIdx.x * d);
    for (int c = threadIdx.x; c < d / 2; c += blockDim.x) {
        to[c] = from[c];
    }
    if (d % 2 == 1 && threadIdx.x == 0) {
        y[(long long)blockIdx.x * d + d - 1] = table[(long long)ids[blockIdx.x] * d + d - 1];
    }
}

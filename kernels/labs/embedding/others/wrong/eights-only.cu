// Groups of eight, and no rest.
// rejected for: never_written
// leads to: no multiple of 8
#include "lab.cuh"
#include <cuda_fp16.h>

extern "C" __global__ void gather_rows(const __half* table, const int* ids, __half* y, int tokens, int d)
{
    const long long from = (long long)ids[blockIdx.x] * d, to = (long long)blockIdx.x * d;
    for (int g = threadIdx.x; g < d / 8; g += blockDim.x) {
        for (int k = 0; k < 8; k++) {
            y[to + 8 * g + k] = table[from + 8 * g + k];
        }
    }
}

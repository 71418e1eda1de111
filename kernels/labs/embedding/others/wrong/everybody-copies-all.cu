// Every thread copies the whole row.
// rejected for: race
// leads to: Two threads store to the same place
#include "lab.cuh"
#include <cuda_fp16.h>

extern "C" __global__ void gather_rows(const __half* table, const int* ids, __half* y, int tokens, int d)
{
    for (int c = 0; c < d; c++) {
        y[(long long)blockIdx.x * d + c] = table[(long long)ids[blockIdx.x] * d + c];
    }
}

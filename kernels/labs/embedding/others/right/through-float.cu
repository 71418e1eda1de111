// Converts to float and back: exact, and no use.
// does not reach: As good as a copy
#include "lab.cuh"
#include <cuda_fp16.h>

extern "C" __global__ void gather_rows(const __half* table, const int* ids, __half* y, int tokens, int d)
{
    const int id = ids[blockIdx.x];
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        const float v = __half2float(table[(size_t)id * d + c]);
        y[(size_t)blockIdx.x * d + c] = __float2half(v);
    }
}

// All elements numbered through, in a grid-stride loop.
// does not reach: Nine tenths of a copy
#include "lab.cuh"
#include <cuda_fp16.h>

// lockstep: grid = 64
extern "C" __global__ void gather_rows(const __half* table, const int* ids, __half* y, int tokens, int d)
{
    const long long count = (long long)tokens * d;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count; i += (long long)gridDim.x * blockDim.x) {
        y[i] = table[(long long)ids[i / d] * d + i % d];
    }
}
